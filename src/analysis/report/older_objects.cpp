// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/older_objects.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/number.hpp"
#include "base/text.hpp"
#include "trace/state/slabinfo.hpp"

namespace kmt {

namespace {

// Tolerance in nanoseconds for comparing times: times of samples are slightly coarser than times of events.
constexpr std::uint64_t kSampleClockNs = 1'000'000;

struct Lived {
  std::uint64_t objects = 0;
  bool exact = false;
};
using LivedByCache = std::map<std::string, Lived, std::less<>>;

// Adds up the live objects of each call site in alloc_traces. The first line of a call site contains the number:
// "CACHE/alloc_traces:   25 do_one+0x12/0x40 …". The lines of its stack follow without a number.
void add_alloc_traces(std::string_view text, LivedByCache& lived) {
  constexpr std::string_view kFile = "/alloc_traces:";
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t end = line.find(kFile);
    if (end == std::string_view::npos) continue;
    std::string_view rest = trim(line.substr(end + kFile.size()));
    const auto count = take_number<std::uint64_t>(rest);
    if (!count || !rest.starts_with(' ')) continue;
    Lived& cache = lived.try_emplace(std::string(line.substr(0, end))).first->second;
    if (!std::exchange(cache.exact, true)) cache.objects = 0;
    cache.objects += *count;
  }
}

// True if a file in the sample was cut off. The file is then not used, because its last call sites are missing.
bool is_cut(const StateSample& sample, std::string_view name) {
  const auto lines = split(text_of(sample, "missing"), '\n');
  return std::ranges::any_of(lines, [name](std::string_view line) { return line.substr(0, line.find('\t')) == name; });
}

LivedByCache lived_at(const StateSample& sample) {
  LivedByCache lived;
  for (const SlabInfo& cache : parse_slabinfo(text_of(sample, "slabinfo")).caches)
    lived[cache.name].objects = cache.active_objects;
  if (!is_cut(sample, "alloc_traces")) add_alloc_traces(text_of(sample, "alloc_traces"), lived);
  return lived;
}

bool is_kmalloc(std::string_view cache) { return cache.starts_with("kmalloc-") || cache.starts_with("dma-kmalloc-"); }

}  // namespace

OlderObjectsOfTrace older_objects(const TraceInfo& info, const std::vector<std::uint64_t>& frees,
                                  std::uint64_t first_ns) {
  OlderObjectsOfTrace result;
  LivedByCache lived;
  if (!info.recording.samples.empty() && info.recording.samples.front().ticks <= first_ns + kSampleClockNs)
    lived = lived_at(info.recording.samples.front());
  std::uint64_t of_kmalloc = 0;
  std::uint64_t of_all = 0;
  for (const auto& [name, of] : lived) {
    of_all += of.objects;
    if (is_kmalloc(name)) of_kmalloc += of.objects;
  }
  if (!lived.empty()) result.lived = of_all;
  const bool frees_name_caches = info.tables.cache_names.size() > 1;
  for (std::size_t id = 0; id < frees.size(); ++id) {
    if (frees[id] == 0) continue;
    OlderObjects& row = result.caches.emplace_back();
    row.cache = info.tables.cache_names[id];
    row.frees = frees[id];
    if (id == 0) {
      if (!lived.empty()) row.lived = frees_name_caches ? of_kmalloc : of_all;
    } else if (const auto found = lived.find(row.cache); found != lived.end()) {
      row.lived = found->second.objects;
      row.exact = found->second.exact;
    }
  }
  std::ranges::sort(result.caches, [](const auto& a, const auto& b) {
    return a.frees != b.frees ? a.frees > b.frees : a.cache < b.cache;
  });
  return result;
}

// Adds the findings about objects from before the trace. Skips the row without a cache name: it may include large
// kmalloc objects, which belong to no cache, so their number at the start is unknown.
void add_findings(const OlderObjectsOfTrace& older, Findings& findings) {
  for (const OlderObjects& row : older.caches)
    if (!row.cache.empty() && row.lived && row.frees > *row.lived)
      findings.add({Imperfection::more_frees_than_lived,
                    fmt::format("{}: {} freed, {} lived", printable(row.cache), row.frees, *row.lived)});
}

}  // namespace kmt
