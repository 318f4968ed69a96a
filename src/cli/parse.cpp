// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/parse.hpp"

#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

constexpr unsigned kMostCpus = 65536;

Error bad_value(std::string_view text, const char* what, const char* hint) {
  Error error(fmt::format("\"{}\" is not {}", text, what));
  error.hint(hint);
  return error;
}

template <typename Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Seconds with up to nine decimals, exactly: a double has no room for nanoseconds since boot.
std::optional<std::uint64_t> nanoseconds(std::string_view text) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::size_t point = text.find('.');
  const auto seconds = whole_number<std::uint64_t>(text.substr(0, point));
  if (!seconds || *seconds > std::numeric_limits<std::uint64_t>::max() / kSecond - 1) return std::nullopt;
  std::uint64_t parts = 0;
  if (point != std::string_view::npos) {
    std::string decimals(text.substr(point + 1));
    if (decimals.empty() || decimals.size() > 9) return std::nullopt;
    decimals.resize(9, '0');
    const auto number = whole_number<std::uint64_t>(decimals);
    if (!number) return std::nullopt;
    parts = *number;
  }
  return *seconds * kSecond + parts;
}

std::optional<TimeWindow::Edge> edge(std::string_view part, std::string_view whole) {
  if (part.empty()) return std::nullopt;
  TimeWindow::Edge edge;
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
    const auto first = whole_number<unsigned>(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole_number<unsigned>(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= kMostCpus)
      throw bad_value(text, "a list of CPUs", "Write it as 0,2-3");
    for (unsigned cpu = *first; cpu <= *last; ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

std::set<std::int32_t> parse_pid_list(std::string_view text) {
  std::set<std::int32_t> pids;
  for (const std::string_view part : split(text, ',')) {
    const auto pid = whole_number<std::int32_t>(part);
    if (!pid || *pid < 0) throw bad_value(text, "a list of task ids", "Write it as 1234,5678");
    pids.insert(*pid);
  }
  return pids;
}

std::uint64_t TimeWindow::Edge::on_clock(std::uint64_t first_ns) const {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  if (!relative) return ns;
  return ns > most - first_ns ? most : first_ns + ns;
}

TimeWindow parse_time_window(std::string_view text) {
  const auto parts = split(text, ',');
  if (parts.size() != 2)
    throw bad_value(text, "a time window", "Write FROM,TO in seconds; either may be left out: 12.5, or ,13");
  TimeWindow window{edge(parts[0], text), edge(parts[1], text)};
  const bool comparable = window.from && window.to && window.from->relative == window.to->relative;
  if (comparable && window.from->ns >= window.to->ns)
    throw bad_value(text, "a time window: it ends before it starts", "Write FROM,TO in seconds");
  return window;
}

}  // namespace kmt
