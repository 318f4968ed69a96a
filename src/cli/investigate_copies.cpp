// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate_copies.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <sys/stat.h>

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

// When the copies in a folder were made, in nanoseconds: since boot, or of the wall clock.
std::uint64_t time_of(const std::string& folder) {
  for (const char* const name : {"/uptime", "/proc/uptime"})
    if (const auto text = try_read_file(folder + name)) {
      const double seconds = std::strtod(text->c_str(), nullptr);
      if (seconds > 0 && seconds < 1e10) return static_cast<std::uint64_t>(seconds * 1e9);
    }
  struct stat status {};
  if (::stat(meminfo_in(folder).c_str(), &status) != 0) return 0;
  return static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
}

std::vector<StateSample> states_in(const std::string& folder) {
  std::vector<StateSample> states;
  for (const std::string& name : names_in(folder)) {
    const std::string place = folder + "/" + name;
    if (meminfo_in(place).empty()) continue;
    StateSample& state = states.emplace_back(collect_snapshot_from(place));
    state.ticks = time_of(place);
  }
  std::ranges::stable_sort(states, {}, &StateSample::ticks);
  return states;
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
  copied.states = states_in(folder);
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
