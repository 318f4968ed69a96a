// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate/copies.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/snapshot/snapshot.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/folder.hpp"
#include "base/text.hpp"
#include "cli/investigate/evidence.hpp"
#include "cli/investigate/sampled_caches.hpp"
#include "cli/support/names_in_time.hpp"
#include "reading/snapshots.hpp"
#include "results/series/trend.hpp"
#include "snapshot/collect.hpp"
#include "snapshot/parse.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

// Returns nanoseconds since boot, or 0 if unknown.
std::uint64_t uptime_of(const std::string& folder) {
  for (const char* const name : {"/uptime", "/proc/uptime"})
    if (const auto text = try_read_file(folder + name)) {
      const double seconds = std::strtod(text->c_str(), nullptr);
      if (seconds > 0 && seconds < 1e10) return static_cast<std::uint64_t>(seconds * 1e9);
    }
  return 0;
}

std::string name_in(const std::string& folder) { return fs::path(folder).filename(); }

// Sorts the folders by the order that their names show (before and after, t1 and t2). If the names show no order, sorts
// by uptime.
void sort_by_time(const std::string& parent, std::vector<std::string>& names, CopiedKernel& copied) {
  if (sort_by_time_in_names(names)) return;
  const auto uptime = [&parent](const std::string& name) { return uptime_of(fmt::format("{}/{}", parent, name)); };
  std::vector<std::string> by_uptime = names;
  std::ranges::stable_sort(by_uptime, {}, uptime);
  const bool tell =
      uptime(by_uptime.front()) != 0 && std::ranges::adjacent_find(by_uptime, {}, uptime) == by_uptime.end();
  if (tell)
    names = std::move(by_uptime);
  else
    copied.no_order = fmt::format("neither names nor uptimes show the order; assuming {}", fmt::join(names, ", "));
}

// Drops the copies without an uptime if enough copies have one. A single copy without a time would make the times of
// all copies unusable.
void drop_timeless(std::vector<std::string>& folders, CopiedKernel& copied) {
  const auto without = static_cast<std::size_t>(std::ranges::count(copied.states, 0, &StateSample::ticks));
  if (without == 0 || folders.size() - without < Trend::kFewestValues) return;
  for (std::size_t i = folders.size(); i-- > 0;) {
    if (copied.states[i].ticks != 0) continue;
    copied.damaged.push_back(name_in(folders[i]) + ": it has no uptime, but other copies have one");
    folders.erase(folders.begin() + static_cast<std::ptrdiff_t>(i));
    copied.states.erase(copied.states.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Replaces the ticks of all states by times on one clock. Before this call, the ticks are uptimes. The modification
// times of the files cannot be used, because they are the times of copying.
void take_times(const std::vector<std::string>& folders, std::uint64_t duration_ns, CopiedKernel& copied) {
  std::vector<std::uint64_t> uptimes(folders.size());
  std::ranges::transform(copied.states, uptimes.begin(), &StateSample::ticks);
  for (StateSample& state : copied.states) state.ticks = 0;
  const bool are_known = std::ranges::find(uptimes, 0) == uptimes.end();
  const bool rise = std::ranges::adjacent_find(uptimes, std::greater_equal()) == uptimes.end();
  if (are_known && !rise && copied.no_order.empty())
    copied.no_order = "the order of their names is used, but their uptimes do not increase in this order";
  if (duration_ns == 0 && !are_known) copied.no_times = "not all copies have an uptime";
  if (duration_ns == 0 && are_known && !rise) copied.no_times = "their uptimes do not increase";
  if (!copied.no_times.empty()) return;
  for (std::size_t i = 0; i < folders.size(); ++i)
    copied.states[i].ticks = duration_ns != 0 ? duration_ns / (folders.size() - 1) * i : uptimes[i];
}

// Reads the two files that `kmemtrace snapshot` wrote. These files contain the times of the snapshots.
void take_snapshots(std::uint64_t duration_ns, CopiedKernel& copied) {
  for (const std::string& path : {copied.before_path, copied.after_path}) {
    SnapshotFile file(path);
    StateSample& state = copied.states.emplace_back(file.sample(file.size() - 1));
    state.ticks = duration_ns != 0 ? duration_ns * (copied.states.size() - 1) : state.unix_ns;
  }
  if (duration_ns == 0 && (copied.states[0].ticks == 0 || copied.states[0].ticks >= copied.states[1].ticks)) {
    copied.no_times = "the snapshots have no times, or their times do not increase";
    for (StateSample& state : copied.states) state.ticks = 0;
  }
}

// Reads the state of memory from the copies in an archive. A kernel log in the archive is used only if the archive has
// no copies. Returns why the archive could be read only partly, or an empty string.
std::string take_archive(const std::string& path, StateSample& state) {
  Copies copies = load_copies(path);
  state = copies.state ? std::move(*copies.state) : std::move(copies.reports.back());
  state.ticks = copies.uptime_ns;
  return std::move(copies.damage);
}

// Reads the state of memory from a copy, with the uptime as ticks. Returns the reason why numbers from this copy would
// be wrong, or an empty string if the copy is complete.
std::string take_state(const std::string& folder, StateSample& state) {
  try {
    if (is_archive_file(folder)) {
      std::string damage = take_archive(folder, state);
      take_stock(parse_snapshot(state, 0));
      return damage;
    }
    state = collect_copies(folder);
    state.ticks = uptime_of(folder);
    const std::string_view slabinfo = text_of(state, "slabinfo");
    if (!slabinfo.empty() && slabinfo.back() != '\n') return "its slabinfo is cut off";
    if (!has_meminfo_copy(folder)) return slabinfo.empty() ? "its slabinfo is empty, or cannot be read" : "";
    if (text_of(state, "meminfo").empty()) return "its meminfo is empty, or cannot be read";
    take_stock(parse_snapshot(state, 0));
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

// Returns the folders and archives that have usable copies, the earliest first.
std::vector<std::string> take_states(const std::string& folder, std::uint64_t duration_ns, CopiedKernel& copied) {
  std::vector<std::string> names = all_names_in(folder);
  const auto path_of = [&folder](const std::string& name) { return fmt::format("{}/{}", folder, name); };
  const auto has_copies = [&](const std::string& name) {
    return has_meminfo_copy(path_of(name)) || has_slabinfo_copy(path_of(name));
  };
  const bool has_folders = std::ranges::any_of(names, has_copies);
  std::erase_if(names, [&](const std::string& name) {
    if (has_copies(name) || (!has_folders && is_archive_file(path_of(name)))) return false;
    if (lacks_meminfo(path_of(name))) copied.lacking_meminfo.push_back(name);
    return true;
  });
  if (names.size() > 1) sort_by_time(folder, names, copied);
  std::vector<std::string> folders;
  folders.reserve(names.size());
  for (const std::string& name : names) {
    StateSample state;
    if (const std::string why = take_state(path_of(name), state); !why.empty()) {
      copied.damaged.push_back(fmt::format("{}: {}", name, why));
      continue;
    }
    folders.push_back(path_of(name));
    copied.states.push_back(std::move(state));
  }
  if (duration_ns == 0) drop_timeless(folders, copied);
  if (folders.size() > 1) take_times(folders, duration_ns, copied);
  for (std::size_t i = 0; i < folders.size(); ++i) {
    if (text_of(copied.states[i], "meminfo").empty()) copied.only_slabinfo.push_back(name_in(folders[i]));
    if (text_of(copied.states[i], "slabinfo").empty()) copied.lacking_slabinfo.push_back(name_in(folders[i]));
  }
  return folders;
}

// Uses the memory reports in a kernel log as states. The log has the reports in the order of time. If its messages have
// timestamps, the states get times on one clock.
void take_reports(const std::string& path, std::uint64_t duration_ns, CopiedKernel& copied) {
  Copies copies = load_copies(path);
  if (copies.reports.size() < 2)
    throw Error(copies.state ? "There is only one state, so there is nothing to compare"
                : copies.earlier_reports > 0
                    ? "There is only one report after the last boot, so there is nothing to compare"
                : copies.foreign_reports > 0
                    ? "The reports in the log are of different machines or kernels, so they cannot be compared"
                : copies.unusable_reports + copies.mixed_reports > 0
                    ? "Only one report in the log is complete, so there is nothing to compare"
                    : "The log has only one report, so there is nothing to compare")
        .hint(fmt::format("kmemtrace snapshot --from {} shows where memory was then", path))
        .at({path, {}, {}});
  copied.notes = notes_of(copies);
  copied.states = std::move(copies.reports);
  const std::size_t last = copied.states.size() - 1;
  if (duration_ns != 0)
    for (std::size_t i = 0; i <= last; ++i) copied.states[i].ticks = duration_ns / last * i;
  else if (!copies.reports_have_times || copied.states.back().ticks == 0)
    copied.no_times = "the messages of the log have no times, or the times do not increase";
  copied.before_path = fmt::format("{}, report 1", copies.log);
  copied.after_path = fmt::format("{}, report {}", copies.log, last + 1);
  copied.before.emplace(take_stock(parse_snapshot(copied.states.front(), 0)));
  copied.after.emplace(take_stock(parse_snapshot(copied.states.back(), 0)));
  copied.page_size = copied.after->memory.page_size;
  copied.is_log = true;
}

std::string machine_of(const KernelMemory& memory) {
  std::string release = memory.release.empty() ? "" : "Linux " + printable(memory.release);
  if (memory.host.empty()) return release;
  return printable(memory.host) + (release.empty() ? "" : " with " + release);
}

// Throws Error if two states name different machines or kernels.
void refuse_other_machines(const std::string& folder, const CopiedKernel& copied) {
  KernelMemory known;
  const auto compare = [&](const KernelMemory& memory) {
    const auto differ = [](const std::string& a, const std::string& b) { return !a.empty() && !b.empty() && a != b; };
    if (differ(known.host, memory.host) || differ(known.release, memory.release))
      throw Error("The copies are of different machines or kernels, so they cannot be compared")
          .hint(fmt::format("One is of {}, another of {}. To see what differs: kmemtrace diff", machine_of(known),
                            machine_of(memory)))
          .at({folder, {}, {}});
    if (known.host.empty()) known.host = memory.host;
    if (known.release.empty()) known.release = memory.release;
  };
  for (const StateSample& state : copied.states) {
    StateSample only;
    only.texts.emplace_back("uname", text_of(state, "uname"));
    compare(parse_snapshot(only, 4096));
  }
  if (copied.before) compare(copied.before->memory);
  if (copied.after) compare(copied.after->memory);
}

// Returns the path of a snapshot, or an empty string if there is none. A damaged file is noted.
std::string snapshot_in(const std::string& folder, const char* name, CopiedKernel& copied) {
  std::string path = folder + "/" + name;
  if (has_meminfo_copy(path)) return path;
  path += ".kmt";
  std::error_code code;
  if (!fs::is_regular_file(path, code)) return {};
  try {
    if (is_snapshot_file(path)) {
      SnapshotFile(path).last();
      return path;
    }
    copied.damaged.push_back(name_in(path) + ": it is damaged, or not a file of `kmemtrace snapshot -o`");
  } catch (const Error& error) {
    copied.damaged.push_back(fmt::format("{}: {}", name_in(path), error.what()));
  }
  return {};
}

// True for a folder that a support tool wrote, and for a folder with a kernel log.
bool may_have_log(const std::string& folder) {
  for (const std::string& name : names_in(folder)) {
    if (name == "sos_commands" || name == "insights_commands" || name == "var") return true;
    if (is_log_file(fmt::format("{}/{}", folder, name))) return true;
  }
  return false;
}

std::string trace_in(const std::string& folder) {
  std::error_code code;
  for (const char* const name : {"/trace.kmt", "/trace.dat", "/perf.data"})
    if (fs::is_regular_file(folder + name, code)) return folder + name;
  return {};
}

}  // namespace

CopiedKernel read_copies(const std::string& folder, std::uint64_t duration_ns) {
  CopiedKernel copied;
  std::error_code code;
  if (!fs::is_directory(folder, code)) {
    take_reports(folder, duration_ns, copied);
    return copied;
  }
  copied.trace = trace_in(folder);
  if (const std::string evidence = fmt::format("{}/{}", folder, kEvidenceFile); fs::is_regular_file(evidence, code))
    copied.evidence = evidence;
  if (const std::string objects = fmt::format("{}/{}", folder, kObjectsFile);
      !copied.evidence.empty() && fs::is_regular_file(objects, code))
    copied.objects = objects;
  const std::vector<std::string> folders = take_states(folder, duration_ns, copied);
  copied.before_path = snapshot_in(folder, "before", copied);
  copied.after_path = snapshot_in(folder, "after", copied);
  if (folders.size() > 1) {
    const auto is_whole = [](const std::string& path) { return has_meminfo_copy(path) || is_archive_file(path); };
    if (copied.before_path.empty() && is_whole(folders.front())) copied.before_path = folders.front();
    if (copied.after_path.empty() && is_whole(folders.back())) copied.after_path = folders.back();
  }
  if (folders.empty() && !copied.before_path.empty() && !copied.after_path.empty()) take_snapshots(duration_ns, copied);
  const auto whole =
      std::ranges::find_if(copied.states, [](const StateSample& state) { return !text_of(state, "meminfo").empty(); });
  if (whole != copied.states.end()) copied.page_size = parse_snapshot(*whole, 0).page_size;
  if (!copied.before_path.empty()) copied.before = read_snapshot(copied.before_path);
  if (!copied.after_path.empty()) copied.after = read_snapshot(copied.after_path);
  refuse_other_machines(folder, copied);
  const bool has_nothing = copied.evidence.empty() && copied.trace.empty() && folders.empty() && !copied.before &&
                           !copied.after && copied.damaged.empty() && copied.lacking_meminfo.empty();
  if (has_nothing && may_have_log(folder)) {
    take_reports(folder, duration_ns, copied);
    return copied;
  }
  if (copied.evidence.empty() && copied.trace.empty() && !(copied.before && copied.after) && copied.states.size() < 2)
    throw Error("Nothing to compare")
        .hint(!copied.damaged.empty() ? fmt::format("Copy these again, completely: {}", fmt::join(copied.damaged, "; "))
              : copied.lacking_meminfo.empty()
                  ? "FOLDER must contain folders with copies of /proc/meminfo, slabinfo, … from at least two times "
                    "(before, after), or a trace: trace.kmt, trace.dat or perf.data"
                  : fmt::format("There is no meminfo among the copies in {}: copy it too",
                                fmt::join(copied.lacking_meminfo, ", ")))
        .at({folder, {}, {}});
  return copied;
}

}  // namespace kmt
