// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate_copies.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>

#include <fmt/format.h>

#include "analysis/snapshot.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "cli/snapshot_files.hpp"
#include "snapshot/collect.hpp"
#include "snapshot/parse.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

std::string meminfo_in(const std::string& folder) {
  std::error_code code;
  for (const char* const name : {"/meminfo", "/proc/meminfo"})
    if (fs::is_regular_file(folder + name, code)) return folder + name;
  return {};
}

// Nanoseconds since boot, or of the wall clock; 0: not known.
std::uint64_t uptime_of(const std::string& folder) {
  for (const char* const name : {"/uptime", "/proc/uptime"})
    if (const auto text = try_read_file(folder + name)) {
      const double seconds = std::strtod(text->c_str(), nullptr);
      if (seconds > 0 && seconds < 1e10) return static_cast<std::uint64_t>(seconds * 1e9);
    }
  return 0;
}

std::uint64_t written_time_of(const std::string& folder) {
  struct stat status {};
  if (::stat(meminfo_in(folder).c_str(), &status) != 0 || status.st_mtim.tv_sec <= 0) return 0;
  return static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
}

// By one clock for all. Files that were copied without their times were all written at once.
void take_times(const std::vector<std::string>& folders, CopiedKernel& copied) {
  constexpr std::uint64_t kLeastApart = 1'000'000'000;
  const bool have_uptime =
      std::ranges::all_of(folders, [](const std::string& folder) { return uptime_of(folder) != 0; });
  std::vector<std::uint64_t> times;
  times.reserve(folders.size());
  for (std::size_t i = 0; i < folders.size(); ++i) {
    times.push_back(have_uptime ? uptime_of(folders[i]) : written_time_of(folders[i]));
    copied.states[i].ticks = times.back();
  }
  std::ranges::sort(times);
  const std::uint64_t least = have_uptime ? 1 : kLeastApart;
  const bool are_apart = std::ranges::adjacent_find(
                             times, [least](std::uint64_t a, std::uint64_t b) { return b - a < least; }) == times.end();
  if (are_apart && times.front() != 0) {
    std::ranges::stable_sort(copied.states, {}, &StateSample::ticks);
    return;
  }
  copied.no_times = have_uptime ? "copies have the same uptime"
                                : "not all copies have an uptime, and their files were written at the same time";
  for (StateSample& state : copied.states) state.ticks = 0;
}

void take_states(const std::string& folder, CopiedKernel& copied) {
  std::vector<std::string> folders;
  for (const std::string& name : names_in(folder)) {
    const std::string place = fmt::format("{}/{}", folder, name);
    if (meminfo_in(place).empty()) continue;
    folders.push_back(place);
    copied.states.push_back(collect_snapshot_from(place));
  }
  if (folders.size() > 1) take_times(folders, copied);
}

std::optional<SnapshotResult> snapshot_in(const std::string& folder, const char* name) {
  const std::string path = folder + "/" + name;
  if (!meminfo_in(path).empty()) return take_stock(parse_snapshot(collect_snapshot_from(path), 0));
  if (is_snapshot_file(path + ".kmt")) return read_snapshot(path + ".kmt");
  return std::nullopt;
}

std::string trace_in(const std::string& folder) {
  std::error_code code;
  for (const char* const name : {"/trace.kmt", "/trace.dat", "/perf.data"})
    if (fs::is_regular_file(folder + name, code)) return folder + name;
  return {};
}

}  // namespace

CopiedKernel read_copies(const std::string& folder) {
  CopiedKernel copied;
  std::error_code code;
  if (!fs::is_directory(folder, code)) throw Error("--from needs a folder").at({folder, {}, {}});
  copied.trace = trace_in(folder);
  take_states(folder, copied);
  if (!copied.states.empty()) copied.page_size = parse_snapshot(copied.states.front(), 0).page_size;
  copied.before = snapshot_in(folder, "before");
  copied.after = snapshot_in(folder, "after");
  if (copied.states.size() > 1) {
    if (!copied.before) copied.before = take_stock(parse_snapshot(copied.states.front(), 0));
    if (!copied.after) copied.after = take_stock(parse_snapshot(copied.states.back(), 0));
  }
  if (copied.trace.empty() && !(copied.before && copied.after)) {
    Error error("There is nothing to compare");
    error.hint(
        "It takes folders with copies of /proc/meminfo, slabinfo, … of two times at least (before, after), or a "
        "trace: trace.kmt, trace.dat or perf.data");
    throw error.at({folder, {}, {}});
  }
  return copied;
}

}  // namespace kmt
