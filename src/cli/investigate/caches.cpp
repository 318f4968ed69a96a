// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate/caches.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/growth/large_caches.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "cli/investigate/plan.hpp"
#include "cli/investigate/sampled_caches.hpp"
#include "cli/support/kernel_memory.hpp"
#include "cli/support/live_kernel.hpp"
#include "reading/live_objects.hpp"
#include "symbols/slab_layout.hpp"

namespace kmt {

namespace {

constexpr ObjectLimits kLimits{1000, 64 << 20, 50'000};
constexpr double kFixedPart = 0.5;  // part of kSecondsOfObjects that is needed before the first object is read
constexpr double kMostPart = 0.25;  // part of a large CPU budget that may be used

// Returns the names of the caches whose objects are unknown.
std::vector<std::string> names_of_unknown(const std::vector<LargeCache>& caches) {
  std::vector<std::string> names;
  for (const LargeCache& cache : caches)
    if (!cache.kinds) names.push_back(cache.name);
  return names;
}

double cpu_seconds() { return static_cast<double>(own_cpu_ns()) / 1e9; }

// Adds the kinds of objects to the caches. `most_seconds` is the CPU time that this may take.
void add_kinds(double most_seconds, std::vector<LargeCache>& caches) {
  const double end = cpu_seconds() + most_seconds;
  ObjectsReport report = sample_objects(
      names_of_unknown(caches), kLimits, [end](double) { return cpu_seconds() < end; }, memory_without_kcore());
  for (CacheKinds& kinds : report.caches) {
    const auto cache = std::ranges::find_if(caches, [&](const LargeCache& one) {
      return one.name == kinds.cache || std::ranges::find(kinds.aliases, one.name) != kinds.aliases.end();
    });
    if (cache == caches.end() || !kinds.objects) continue;
    cache->kinds = std::move(kinds);
    cache->end = report.end;
  }
}

// Adds the kinds that an investigation stored. Returns what it could not read, or that the file is damaged.
std::optional<UnseenSource> add_stored_kinds(const std::string& path, std::vector<LargeCache>& caches) {
  try {
    return read_sampled_caches(path, caches);
  } catch (const Error& error) {
    return UnseenSource{"the kinds of objects that the investigation stored", fmt::format("{}: {}", path, error.what()),
                        ""};
  }
}

}  // namespace

std::optional<UnseenSource> inspect_large_caches(const SnapshotResult& after, const std::string& objects,
                                                 InvestigationResult& result) {
  result.large_caches = large_caches(after, result.judgement);
  if (!objects.empty()) return add_stored_kinds(objects, result.large_caches);
  const std::vector<std::string> names = names_of_unknown(result.large_caches);
  if (names.empty()) return {};
  const auto cannot = [&](std::string why, std::string how) {
    return UnseenSource{fmt::format("the objects in {}", fmt::join(names, ", ")), std::move(why), std::move(how)};
  };
  const std::string command = fmt::format("`kmemtrace snapshot --objects {}`", fmt::join(names, ","));
  if (!result.cost) return cannot("there is no copy of the kernel's memory", "run " + command + " on that machine");
  const double left =
      result.cost->most_cpu_seconds - result.cost->kernel_cpu_seconds - cpu_seconds() - kSecondsAtTheEnd / 2;
  try {
    if (left < kFixedPart * kSecondsOfObjects) {
      slab_symbols(read_file("/proc/kallsyms"));  // throws if `command` cannot work either
      return cannot(fmt::format("the CPU budget of {:.1f} s was used", result.cost->most_cpu_seconds),
                    "raise --cpu, or run " + command);
    }
    add_kinds(std::min(left, std::max(kSecondsOfObjects, kMostPart * result.cost->most_cpu_seconds)),
              result.large_caches);
    return {};
  } catch (const Error& error) {
    result.no_objects = true;
    return cannot(error.what(), error.hint());
  }
}

}  // namespace kmt
