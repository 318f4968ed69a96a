// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/parse.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/support/suggest.hpp"

namespace kmt {

namespace {

constexpr unsigned kMostCpus = 65536;

Error bad_value(std::string_view text, const char* what, std::string hint) {
  return Error(fmt::format("\"{}\" is not {}", text, what)).hint(std::move(hint));
}

// Parses seconds with up to nine decimals. Does not use double, because a double cannot represent every number of
// nanoseconds since boot.
std::optional<std::uint64_t> nanoseconds(std::string_view text) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::size_t point = text.find('.');
  const auto seconds = parse_number<std::uint64_t>(text.substr(0, point));
  if (!seconds || *seconds > std::numeric_limits<std::uint64_t>::max() / kSecond - 1) return std::nullopt;
  std::uint64_t parts = 0;
  if (point != std::string_view::npos) {
    std::string decimals(text.substr(point + 1));
    if (decimals.empty() || decimals.size() > 9) return std::nullopt;
    decimals.resize(9, '0');
    const auto number = parse_number<std::uint64_t>(decimals);
    if (!number) return std::nullopt;
    parts = *number;
  }
  return *seconds * kSecond + parts;
}

std::optional<TimeEdge> edge(std::string_view part, std::string_view whole) {
  if (part.empty()) return std::nullopt;
  TimeEdge edge;
  edge.relative = part.starts_with('+');
  const auto ns = nanoseconds(edge.relative ? part.substr(1) : part);
  if (!ns)
    throw bad_value(whole, "a time window", "Write seconds: 12.5,13 or 12.5, or ,13 or +1,+2.5 (from the first event)");
  edge.ns = *ns;
  return edge;
}

}  // namespace

std::set<unsigned> parse_cpu_list(std::string_view text) {
  std::set<unsigned> cpus;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = parse_number<unsigned>(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number<unsigned>(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= kMostCpus)
      throw bad_value(text, "a list of CPUs", "Write it as 0,2-3");
    for (unsigned cpu = *first; cpu <= *last; ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

std::set<std::int32_t> parse_pid_list(std::string_view text) {
  std::set<std::int32_t> pids;
  for (const std::string_view part : split(text, ',')) {
    const auto pid = parse_number<std::int32_t>(part);
    if (!pid || *pid < 0) throw bad_value(text, "a list of task IDs", "Write it as 1234,5678");
    pids.insert(*pid);
  }
  return pids;
}

TimeWindow parse_time_window(std::string_view text) {
  const auto parts = split(text, ',');
  if (parts.size() != 2)
    throw bad_value(text, "a time window", "Write FROM,TO in seconds. FROM or TO may be omitted: 12.5, or ,13");
  TimeWindow window{edge(parts[0], text), edge(parts[1], text)};
  const bool comparable = window.from && window.to && window.from->relative == window.to->relative;
  if (comparable && window.from->ns >= window.to->ns)
    throw bad_value(text, "a time window, because it ends before it starts", "Write FROM,TO in seconds");
  return window;
}

SizeRange parse_size_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view least = text.substr(0, dash);
  const std::string_view most = dash == std::string_view::npos ? least : text.substr(dash + 1);
  if (least.empty() && most.empty())
    throw bad_value(text, "a range of sizes", "Write bytes: 64-128, 4k- (at least), -96 (at most), or one size");
  SizeRange range;
  if (!least.empty()) range.least = parse_size(least);
  if (!most.empty()) range.most = parse_size(most);
  if (range.least && range.most && *range.least > *range.most)
    throw bad_value(text, "a range of sizes, because it ends before it starts", "Write the smaller size first: 64-128");
  return range;
}

double parse_byte_rate(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto bytes = static_cast<double>(parse_size(text.substr(0, slash)));
  if (slash == std::string_view::npos) return bytes;
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}}};
  for (const auto& [name, seconds] : kUnits)
    if (text.substr(slash + 1) == name) return bytes / seconds;
  throw bad_value(text, "a rate", "Write bytes per s, min, h or d: 64K/min, 1M/h");
}

std::vector<GroupKey> parse_keys_of_live(std::string_view text) {
  std::vector<GroupKey> keys = parse_group_keys(text);
  if (const auto freed = std::ranges::find_if(keys, is_known_when_freed); freed != keys.end())
    throw bad_value(
        text, "a list of keys for live allocations",
        fmt::format("`kmemtrace report --by {}` shows this key of freed allocations", info_of(*freed).name));
  return keys;
}

std::vector<GroupKey> parse_group_keys(std::string_view text) {
  if (text.empty()) throw bad_value(text, "a key", "Write --by call-site, or several: --by cache,call-site");
  std::vector<GroupKey> keys;
  for (const std::string_view part : split(text, ',')) {
    const auto found = std::find_if(group_keys().begin(), group_keys().end(),
                                    [part](const GroupKeyInfo& info) { return info.name == part; });
    if (found == group_keys().end()) {
      std::vector<std::string> names;
      for (const GroupKeyInfo& info : group_keys()) names.emplace_back(info.name);
      throw unknown_name("Cannot group by", part, names);
    }
    if (std::find(keys.begin(), keys.end(), found->key) != keys.end())
      throw bad_value(text, "a list without duplicates", "Name each key once: cache,call-site");
    keys.push_back(found->key);
  }
  if (keys.size() > kMostGroupKeys)
    throw bad_value(text, "a list of keys with a valid length", fmt::format("Give at most {} keys", kMostGroupKeys));
  return keys;
}

std::vector<std::string> split_commas(const std::vector<std::string>& values) {
  std::vector<std::string> parts;
  for (const std::string& value : values)
    for (const std::string_view part : split(value, ','))
      if (!part.empty()) parts.emplace_back(part);
  return parts;
}

std::vector<pid_t> parse_processes(const std::vector<std::string>& values) {
  std::vector<pid_t> pids;
  for (const std::string& part : split_commas(values)) {
    const int pid = parse_number<int>(part).value_or(0);
    if (pid <= 0) throw Error(fmt::format("\"{}\" is not a process ID", part));
    if (!std::filesystem::exists(fmt::format("/proc/{}", pid)))
      throw Error(fmt::format("There is no process {}", pid)).hint("`ps -e` lists the processes");
    pids.push_back(pid);
  }
  return pids;
}

}  // namespace kmt
