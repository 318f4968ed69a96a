// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/live_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "capture/tracefs/own_threads.hpp"
#include "capture/tracefs/process_filter.hpp"
#include "cli/parse.hpp"

namespace kmt {

void add_live_options(CLI::App& command, LiveOptions& options) {
  command.add_flag("-a,--all", options.all, "Watch the whole machine while COMMAND runs, not only COMMAND");
  command
      .add_option("-p,--pid", options.pids,
                  "Watch only process PID, all its threads and what it forks from now on (repeatable)")
      ->type_name("PID")
      ->take_all()
      ->allow_extra_args(false);
  command
      .add_option("--cgroup", options.cgroup,
                  "Watch only tasks of this cgroup and of those below it\nOnly cgroups of version 2 can be selected.")
      ->type_name("CGROUP");
  command.add_option("-d,--duration", options.duration, "End after that time: 10s, 1.5s, 200ms, 5m")->type_name("T");
  command
      .add_option(
          "COMMAND", options.command,
          "Run COMMAND and watch it and what it forks; end when it ends\nWhat interrupts allocate while its tasks "
          "run counts as theirs.")
      ->option_text("[-- COMMAND…]");
}

BpfSelection selection_of(const LiveOptions& options, std::optional<pid_t> child) {
  BpfSelection selection;
  selection.processes = parse_processes(options.pids);
  if (options.all && (!options.pids.empty() || !options.cgroup.empty()))
    throw Error("-a watches the whole machine, -p and --cgroup only a part of it: choose one");
  if (child && !options.all && options.cgroup.empty()) selection.processes.push_back(*child);
  if (!selection.processes.empty() && !knows_kernel_pids()) {
    Error error("Cannot watch only some processes from inside a PID namespace: the kernel knows them by other numbers",
                ExitCode::unsupported);
    error.hint("Watch the whole machine (-a), a cgroup, or run it on the host");
    throw error;
  }
  if (!options.cgroup.empty()) selection.cgroup = find_cgroup(options.cgroup);
  return selection;
}

std::string selection_text(const LiveOptions& options) {
  std::string text;
  if (!options.pids.empty()) text = fmt::format("process {}", fmt::join(split_commas(options.pids), ", "));
  if (!options.command.empty() && !options.all && options.cgroup.empty())
    text += (text.empty() ? "" : ", ") + options.command.front();
  if (!options.cgroup.empty()) text += (text.empty() ? "cgroup " : " in cgroup ") + options.cgroup;
  return text;
}

std::optional<std::uint64_t> duration_of(const LiveOptions& options) {
  if (options.duration.empty()) return {};
  const std::uint64_t duration = parse_duration(options.duration);
  if (duration == 0) throw Error("--duration of nothing watches nothing");
  return duration;
}

}  // namespace kmt
