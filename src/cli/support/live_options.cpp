// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/live_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/proc_text.hpp"
#include "base/text.hpp"
#include "capture/features/bpf_support.hpp"
#include "capture/features/pid_namespace.hpp"
#include "capture/ftrace/process_filter.hpp"
#include "cli/support/parse.hpp"
#include "cli/support/say.hpp"
#include "cli/support/types_option.hpp"

namespace kmt {

namespace {

// Returns the ID of the task's process (thread group). If the process is unknown, returns the ID of the task.
pid_t thread_group_of(pid_t task) {
  const std::string status = try_read_file(fmt::format("/proc/{}/status", task)).value_or("");
  const auto group = find_proc_value(status, "Tgid");
  return group ? static_cast<pid_t>(group->value) : task;
}

}  // namespace

void add_live_options(Command& command, LiveOptions& options) {
  command.flag("-a,--all", &options.all, "Watch the whole machine while COMMAND runs, not only COMMAND");
  command.option("-p,--pid", &options.pids, "PID",
                 "Watch only process PID with all its threads and future child processes (repeatable)\n"
                 "The command ends when all these processes have ended.",
                 {.repeats = true});
  command.option("--cgroup", &options.cgroup, "CGROUP",
                 "Watch only tasks in CGROUP and in cgroups below it\nOnly cgroups of version 2 can be selected.");
  command.option("-d,--duration", &options.duration, "T", "Stop after time T: 10s, 1.5s, 200ms, 5m");
  add_no_probes_option(command, options.no_probes);
  add_types_option(command, options.btf);
  command.argument("COMMAND", &options.command,
                   "Run COMMAND, and watch COMMAND and its child processes until COMMAND ends\n"
                   "Allocations in an interrupt are included if the interrupted task is watched.");
}

void add_no_probes_option(Command& command, bool& no_probes) {
  command.flag("--no-probes", &no_probes,
               "Do not probe kernel paths without a tracepoint\nBy default, BPF programs count what "
               "kmem_cache_free_bulk(), kfree_rcu() and others free, and what bulk functions allocate (Linux 6.13).");
}

BpfSelection selection_of(const LiveOptions& options, std::optional<pid_t> child) {
  BpfSelection selection;
  selection.processes = parse_processes(options.pids);
  for (const pid_t process : selection.processes)
    if (const pid_t group = thread_group_of(process); group != process)
      throw Error(fmt::format("{} is a thread of process {}, but only whole processes can be watched", process, group))
          .hint(fmt::format("-p {}", group));
  if (options.all && (!options.pids.empty() || !options.cgroup.empty()))
    throw Error("-a watches the whole machine, but -p and --cgroup only a part of it: choose one");
  if (child && !options.all && options.cgroup.empty()) selection.processes.push_back(*child);
  if (!selection.processes.empty() && !knows_kernel_pids())
    throw Error("Cannot watch single processes in a PID namespace, because the kernel uses different process IDs",
                ExitCode::unsupported)
        .hint("Watch the whole machine (-a) or a cgroup (--cgroup), or run kmemtrace on the host");
  if (!options.cgroup.empty()) selection.cgroup = find_cgroup(options.cgroup, CgroupVersions::second);
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

void say_caveats() {
  if (const BpfSupport support = bpf_support(); !support.caveat.empty()) say("note: {}\n", support.caveat);
}

}  // namespace kmt
