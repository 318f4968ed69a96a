// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/entry_counts.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/number.hpp"
#include "base/text.hpp"

namespace kmt::text {

namespace {

unsigned cpus_in(std::string_view number) {
  return static_cast<unsigned>(std::min<std::uint64_t>(parse_leading<std::uint64_t>(number).value_or(0), kMostCpus));
}

// True for an entry of the function_graph tracer that is printed as a comment, such as " 1)  |  /* a message */".
bool is_comment_of_call(std::string_view line) {
  return line.find('|') != line.npos && line.ends_with("*/") && line.find("/*") != line.npos;
}

// True for an entry that ftrace prints with its option nocontext-info: "kfree: call_site=…" or "f <-caller".
bool is_without_prefix(std::string_view line) {
  const std::size_t colon = line.find(": ");
  return (colon != line.npos && is_word(line.substr(0, colon))) || line.find(" <-") != line.npos;
}

}  // namespace

void EntryCounts::add(const Lines::Item& item) {
  if (const Line* const line = std::get_if<Line>(&item)) {
    add_entries(line->has_cpu ? std::optional(line->cpu) : std::nullopt, 1);
    if (!parts_.empty() && line->tid < 0 && line->comm.empty() && !line->has_cpu) parts_.back().lacks_prefixes = true;
  } else if (const CallLine* const call = std::get_if<CallLine>(&item)) {
    // The kernel prints the entry and the exit of a leaf in one line.
    add_entries(call->line.has_cpu ? std::optional(call->line.cpu) : std::nullopt,
                call->part == CallPart::leaf ? 2 : 1);
  } else if (std::holds_alternative<Lines::Unreadable>(item)) {
    add_entries({}, 1);
  } else if (const std::string_view* const other = std::get_if<std::string_view>(&item)) {
    add_other(trim(*other));
  }
}

void EntryCounts::add_entries(std::optional<unsigned> cpu, unsigned count) {
  Part& part = parts_.empty() ? before_ : parts_.back();
  part.has_several_cpus = part.has_several_cpus || (part.cpu && cpu && *part.cpu != *cpu);
  if (cpu) part.cpu = cpu;
  part.entries += count;
}

void EntryCounts::add_other(std::string_view line) {
  if (add_header(line) || parts_.empty() || line.starts_with('#')) return;
  if (const auto place = parse_entry(line))
    add_entries(place->cpu, 1);
  else if (is_comment_of_call(line))
    add_entries({}, 1);
  else if (is_without_prefix(line))
    ++parts_.back().without_prefix;
}

// Reads the number of overwritten entries and of CPUs from header lines. The kernel writes "#
// entries-in-buffer/entries-written: 100/250   #P:4", or in the latency format "# latency: 0 us, #100/250, CPU#0 | (…
// #P:4)". trace-cmd writes "cpus=4".
bool EntryCounts::add_header(std::string_view line) {
  constexpr std::string_view kCpus = "cpus=";
  constexpr std::string_view kEntries = "# entries-in-buffer/entries-written: ";
  constexpr std::string_view kLatency = "# latency: ";
  // Perfetto writes these numbers into each text (kFtraceHeader in its src/traceconv/trace_to_systrace.cc).
  constexpr std::string_view kPerfettosHeader = "30624/30624   #P:4";
  // With several buffers, trace-cmd prints "NAME: " first.
  if (const std::size_t at = line.find(kCpus); at == 0 || (at != line.npos && line.substr(0, at).ends_with(": "))) {
    cpus_ = std::max(cpus_, cpus_in(line.substr(at + kCpus.size())));
    return true;
  }
  if (line.starts_with(kLatency))
    line.remove_prefix(std::min(line.find(", #"), line.size() - 3) + 3);
  else if (line.starts_with(kEntries))
    line.remove_prefix(kEntries.size());
  else
    return false;
  if (line.starts_with(kPerfettosHeader)) return true;
  const std::size_t slash = line.find('/');
  if (slash == line.npos) return false;
  const auto kept = parse_value(trim(line.substr(0, slash)));
  const std::string_view after = line.substr(slash + 1);
  const auto written = parse_value(after.substr(0, after.find_first_of(" ,")));
  if (!kept || !written || *written < *kept) return true;
  Part part;
  part.kept = *kept;
  part.written = *written;
  if (const std::size_t cpus = line.find("#P:"); cpus != line.npos) part.cpus = cpus_in(line.substr(cpus + 3));
  cpus_ = std::max(cpus_, part.cpus);
  parts_.push_back(part);
  return true;
}

std::vector<EntryCounts::Part> EntryCounts::whole_parts() const {
  struct Group {
    std::size_t index = 0;
    std::set<unsigned> cpus;
  };
  using Header = std::tuple<std::uint64_t, std::uint64_t, unsigned>;
  const auto header_of = [](const Part& part) { return Header(part.kept, part.written, part.cpus); };
  std::set<Header> with_entries;
  for (const Part& part : parts_)
    if (part.entries != 0) with_entries.insert(header_of(part));
  std::map<Header, Group> groups;
  std::vector<Part> whole;
  for (Part part : parts_) {
    if (part.lacks_prefixes) part.entries += part.without_prefix;
    if (parts_.size() == 1) {
      part.entries += before_.entries;
      part.has_several_cpus =
          part.has_several_cpus || before_.has_several_cpus || (before_.cpu && before_.cpu != part.cpu);
    }
    if (part.has_repeated && part.entries == 0) continue;
    const bool is_empty_cpu = part.entries == 0 && part.cpus > 1 && with_entries.contains(header_of(part));
    if (is_empty_cpu) continue;
    const bool is_of_one_cpu = part.cpus > 1 && part.cpu && !part.has_several_cpus;
    if (!is_of_one_cpu) {
      whole.push_back(part);
      continue;
    }
    const auto [found, is_new] = groups.try_emplace(header_of(part), Group{whole.size(), {}});
    if (!found->second.cpus.insert(*part.cpu).second || is_new) {
      whole.push_back(part);
      continue;
    }
    Part& all = whole[found->second.index];
    all.entries += part.entries;
    all.has_several_cpus = true;
  }
  return whole;
}

std::optional<std::uint64_t> EntryCounts::overwritten() const {
  if (parts_.empty()) return std::nullopt;
  std::uint64_t sum = 0;
  for (const Part& part : whole_parts()) sum = sum_of_counts(sum, part.written - part.kept);
  return sum;
}

std::uint64_t EntryCounts::missing() const {
  std::uint64_t sum = 0;
  for (const Part& part : whole_parts()) sum = sum_of_counts(sum, part.kept - std::min(part.kept, part.entries));
  return sum;
}

void EntryCounts::report_missing(Findings& findings) const {
  for (const Part& part : whole_parts()) {
    // A multiple of the header's count means repeated lines: the kernel hardly adds that many entries during reading.
    constexpr std::uint64_t kMany = 8;
    if (part.kept >= kMany && part.entries > part.kept && part.entries % part.kept == 0 && !part.has_repeated)
      findings.add({Imperfection::repeated_lines,
                    fmt::format("the header counts {} entries, but the text has {}, and all are counted", part.kept,
                                part.entries),
                    {},
                    {},
                    {}});
    if (part.entries >= part.kept) continue;
    const bool is_of_one_cpu = part.cpus > 1 && part.cpu && !part.has_several_cpus;
    findings.add({Imperfection::truncated_file,
                  is_of_one_cpu
                      ? fmt::format("the header counts {} entries of {} CPUs, but the text has {}, all of "
                                    "CPU {}",
                                    part.kept, part.cpus, part.entries, *part.cpu)
                      : fmt::format("the header counts {} entries, but the text has {}", part.kept, part.entries),
                  {},
                  {},
                  {}});
  }
}

}  // namespace kmt::text
