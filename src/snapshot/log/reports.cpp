// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/log/reports.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

namespace kmt {

namespace {

constexpr std::uint64_t kDay = 86'400'000'000'000;  // ns
constexpr std::uint64_t kYear = 366 * kDay;         // a leap year; times without a year are read as times of 2000
constexpr std::uint64_t kMostOfYear = kYear - 60 * kDay;

// True if two reports may be of one machine and kernel. A machine may gain or lose memory, so the totals may differ.
bool may_be_of_one_machine(const OomReport& a, const OomReport& b) {
  const auto differ = [](const std::string& one, const std::string& other) {
    return !one.empty() && !other.empty() && one != other;
  };
  constexpr double kMuch = 1.5;
  const auto few = static_cast<double>(std::min(total_bytes_of(a), total_bytes_of(b)).value_or(0));
  const auto many = static_cast<double>(std::max(total_bytes_of(a), total_bytes_of(b)).value_or(0));
  return !differ(a.host, b.host) && !differ(a.release, b.release) && a.page_size == b.page_size && many <= few * kMuch;
}

// True if both are copies of the same report. Two different reports never have the same numbers.
bool is_same_report(const OomReport& a, const OomReport& b) {
  const auto differ = [](const auto& one, const auto& other) { return one && other && *one != *other; };
  const bool is_of_another = !a.host.empty() && !b.host.empty() && a.host != b.host;
  if (is_of_another || a.totals != b.totals || differ(a.boot_ns, b.boot_ns) || differ(a.wall_ns, b.wall_ns))
    return false;
  const auto numbers_of = [](const OomReport& report) {
    std::vector<LogNumbers> numbers = {report.lines};
    if (report.kill.cgroup) {
      LogNumbers& of_cgroup = numbers.emplace_back();
      of_cgroup[report.kill.cgroup->memory.path] = report.kill.cgroup->usage_bytes.value_or(0);
      for (const NamedAmount& value : report.kill.cgroup->memory.values) of_cgroup.emplace(value.name, value.value);
    }
    for (const auto& [node, of_node] : report.nodes) numbers.push_back(of_node);
    for (const auto& [name, zone] : report.zones) numbers.push_back(zone.numbers);
    return numbers;
  };
  return a.kill.victim_pid == b.kill.victim_pid && numbers_of(a) == numbers_of(b);
}

// True if the report has its first lines and shows the total of memory. Other reports are used only if the log has no
// usable report.
bool is_usable(const OomReport& report) { return !report.starts_late && total_bytes_of(report).value_or(0) != 0; }

// True if the report is about a failed allocation of the process that the previous report shows as killed. Such a
// report shows the same memory, but neither tasks nor slab caches. The allocation of a process fails when the process
// is killed, and Linux 7.3 reports this failure.
bool is_of_killed(const OomReport& report, const OomReport& before) {
  constexpr std::uint64_t kSoon = 5'000'000'000;  // ns
  const auto is_soon = [](const std::optional<std::uint64_t>& one, const std::optional<std::uint64_t>& next) {
    return !one || !next || (*next >= *one && *next - *one <= kSoon);
  };
  const bool is_of_victim = report.kill.invoked_by == before.kill.victim &&
                            report.pid.value_or(before.kill.victim_pid) == before.kill.victim_pid;
  return is_usable(before) && !before.kill.victim.empty() && report.is_failed_allocation && is_of_victim &&
         report.boot == before.boot && report.host == before.host && is_soon(before.boot_ns, report.boot_ns) &&
         is_soon(before.wall_ns, report.wall_ns);
}

// Sorts the reports by time if logs were put together in the wrong order, such as `cat kern.log*`. Without years, the
// time also falls at the end of a year.
void sort_by_time(std::vector<OomReport>& reports) {
  const auto has_time = [](const OomReport& report) { return report.wall_ns.has_value(); };
  const auto is_next_year = [](const OomReport& one, const OomReport& next) {
    return !one.has_year && *one.wall_ns > *next.wall_ns + kMostOfYear;
  };
  if (!std::ranges::all_of(reports, has_time) || std::ranges::is_sorted(reports, {}, &OomReport::wall_ns) ||
      std::ranges::adjacent_find(reports, is_next_year) != reports.end())
    return;
  std::ranges::stable_sort(reports, {}, &OomReport::wall_ns);
  for (std::size_t i = 0; i < reports.size(); ++i) reports[i].position = i;
}

// Numbers the boots again in the order of the reports. Also counts a boot if the time since boot falls. If the
// wall-clock time falls too, there was no boot: logs were put together in the wrong order.
void find_reboots(std::vector<OomReport>& reports) {
  constexpr std::uint64_t kLong = 60'000'000'000;  // ns; messages of several CPUs may be out of order
  std::size_t boots = 0;
  std::size_t before = 0;  // boot number that the last report had before the renumbering
  const OomReport* last = nullptr;
  for (OomReport& report : reports) {
    const bool falls = last != nullptr && last->host == report.host && last->boot_ns && report.boot_ns &&
                       *report.boot_ns + kLong < *last->boot_ns;
    const bool is_wrong_order = last != nullptr && last->wall_ns && report.wall_ns && *report.wall_ns < *last->wall_ns;
    const bool is_new = last != nullptr && ((falls && !is_wrong_order) || report.boot != before);
    if (is_new) ++boots;
    before = std::exchange(report.boot, boots);
    last = &report;
  }
}

// Without a report about the machine, uses the reports about the cgroup of the last kill. Prefers reports that show
// how the cgroup used its memory.
void use_reports_of_cgroup(LogReports& log) {
  if (!log.usable.empty() || !log.unusable.empty() || log.of_cgroups.empty()) return;
  const auto has_values = [](const OomReport& report) { return !report.kill.cgroup->memory.values.empty(); };
  if (std::ranges::any_of(log.of_cgroups, has_values))
    log.unused_of_cgroups = std::erase_if(log.of_cgroups, std::not_fn(has_values));
  const OomReport& last = log.of_cgroups.back();
  const auto is_other = [boot = last.boot, host = last.host, path = last.kill.cgroup->memory.path](const auto& one) {
    return one.boot != boot || one.host != host || one.kill.cgroup->memory.path != path;
  };
  log.unused_of_cgroups += std::erase_if(log.of_cgroups, is_other);
  log.usable = std::exchange(log.of_cgroups, {});
}

auto rank(const LogReports& log) {
  return std::tuple(log.usable.size(), log.unusable.size(), log.of_cgroups.size(), log.mixed);
}

}  // namespace

LogReports log_reports(std::string_view text) {
  LogReports log;
  std::vector<OomReport> reports;
  std::vector<OomReport> all = oom_reports(text, &log.dropped);
  sort_by_time(all);
  find_reboots(all);
  for (OomReport& report : all) {
    const bool is_repeated = !report.is_mixed && std::ranges::any_of(reports, [&](const OomReport& one) {
      return is_same_report(one, report);
    });
    if (is_repeated)
      ++log.repeated;
    else if (!reports.empty() && !report.is_mixed && is_of_killed(report, reports.back()))
      ++log.of_killed;
    else
      reports.push_back(std::move(report));
  }
  for (OomReport& report : reports) {
    if (report.is_mixed)
      ++log.mixed;
    else if (report.is_of_cgroup())
      log.of_cgroups.push_back(std::move(report));
    else
      (is_usable(report) ? log.usable : log.unusable).push_back(std::move(report));
  }
  if (log.usable.empty()) return log;
  // Keep only the reports of the last boot. Times of different boots cannot be compared, because each boot starts the
  // clock at 0. The memory of different boots or machines cannot be compared either.
  OomReport last = std::move(log.usable.back());
  log.usable.pop_back();
  log.earlier = std::erase_if(log.usable, [&](const OomReport& report) { return report.boot != last.boot; });
  log.foreign =
      std::erase_if(log.usable, [&](const OomReport& report) { return !may_be_of_one_machine(report, last); });
  log.usable.push_back(std::move(last));
  return log;
}

bool is_preferred(const LogReports& a, const LogReports& b) {
  if (a.usable.empty() || b.usable.empty()) return rank(a) >= rank(b);
  const OomReport& last_a = a.usable.back();
  const OomReport& last_b = b.usable.back();
  const bool have_times = last_a.wall_ns && last_b.wall_ns && last_a.has_year == last_b.has_year;
  if (!have_times || is_same_report(last_a, last_b) || last_a.wall_ns == last_b.wall_ns) return rank(a) >= rank(b);
  return *last_a.wall_ns > *last_b.wall_ns;
}

bool lacks_reports_of(const LogReports& a, const LogReports& b) {
  const auto is_in_a = [&a](const OomReport& report) {
    const auto is_same = [&report](const OomReport& one) { return is_same_report(one, report); };
    return std::ranges::any_of(a.usable, is_same) || std::ranges::any_of(a.of_cgroups, is_same);
  };
  return !std::ranges::all_of(b.usable, is_in_a) || !std::ranges::all_of(b.of_cgroups, is_in_a);
}

bool choose_reports(LogReports& log) {
  use_reports_of_cgroup(log);
  if (log.unusable.empty()) return false;
  if (!log.usable.empty()) return log.unusable.back().position > log.usable.back().position;
  // A part of the balance sheet is better than none.
  const auto has_free = [](const OomReport& report) { return report.totals.contains("free"); };
  const auto has_zones = [](const OomReport& report) { return !report.zones.empty(); };
  auto best = std::find_if(log.unusable.rbegin(), log.unusable.rend(), has_free);
  if (best == log.unusable.rend()) best = std::find_if(log.unusable.rbegin(), log.unusable.rend(), has_zones);
  if (best == log.unusable.rend()) best = log.unusable.rbegin();
  const bool has_later = best != log.unusable.rbegin();
  log.usable.push_back(std::move(*best));
  log.unusable.erase(std::next(best).base());
  return has_later;
}

std::vector<std::uint64_t> times_of(const std::vector<OomReport>& reports) {
  for (const auto clock : {&OomReport::boot_ns, &OomReport::wall_ns}) {
    std::vector<std::uint64_t> times;
    std::uint64_t years = 0;
    for (const OomReport& report : reports) {
      if (!(report.*clock)) continue;
      std::uint64_t time = *(report.*clock) + years;
      const bool is_next_year =
          clock == &OomReport::wall_ns && !report.has_year && !times.empty() && time + kMostOfYear < times.back();
      if (is_next_year) years += kYear, time += kYear;
      times.push_back(time);
    }
    if (times.size() == reports.size() && std::ranges::is_sorted(times)) return times;
  }
  return {};
}

}  // namespace kmt
