// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/record/run.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/error.hpp"
#include "capture/tracefs/tracefs.hpp"
#include "snapshot/collect.hpp"

namespace kmt {

namespace {

// Makes glibc return each freed block of at least 256 KiB to the kernel. By default, glibc keeps freed memory for later
// use, up to twice the size of the largest freed block. That block is the text of /proc/kallsyms. Threads that end
// leave less unused memory if all threads share two arenas.
void return_freed_memory() {
#ifdef M_MMAP_THRESHOLD
  ::mallopt(M_MMAP_THRESHOLD, 256 << 10);
  ::mallopt(M_ARENA_MAX, 2);
#endif
}

// Most memory is used while the kernel is described. Huge pages would round it up to multiples of 2 MiB.
class NoHugePages {
 public:
  NoHugePages() {
    if (were_allowed_) ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  }
  NoHugePages(const NoHugePages&) = delete;
  NoHugePages& operator=(const NoHugePages&) = delete;
  ~NoHugePages() { end(); }
  // Must be called before the recorded command is executed, because a program inherits this setting.
  void end() const {
    if (were_allowed_) ::prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
  }

 private:
  // False if a parent process restricted the huge pages of this one, in any of several ways.
  const bool were_allowed_ = ::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 0;
};

bool ask(const std::string& question) {
  std::fputs((question + " [y/N] ").c_str(), stderr);
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

}  // namespace

void outlive_write_signals() {
  std::signal(SIGPIPE, [](int) {});  // an empty handler, because COMMAND would inherit the action "ignore"
}

void offer_to_remove_stale(const std::string& tracefs, bool remove) {
  std::vector<std::string> stale = stale_instances(tracefs);
  // wait, because the watcher process of the killed recorder may be removing the instance right now
  if (!stale.empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stale = stale_instances(tracefs);
  }
  if (stale.empty()) return;
  if (!remove && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1)
    remove = ask(fmt::format("A killed kmemtrace left a trace instance in {}. Remove it?", fmt::join(stale, ", ")));
  for (const std::string& path : stale) {
    if (!remove)
      say("note: a killed kmemtrace left a trace instance; remove it with `kmemtrace record --remove-stale`, or: rmdir "
          "{}\n",
          path);
    else if (remove_instance(path))
      say("Removed the trace instance {} of a killed run\n", path);
    else
      say("note: {} is in use and cannot be removed\n", path);
  }
}

RecordedTrace run_recording(const RecordOptions& options, RecordOutput& output, const RecordSteps& steps) {
  return_freed_memory();
  const NoHugePages no_huge_pages;
  ProgressLine progress(!options.no_progress);
  RecordHooks hooks;
  hooks.interrupted = [&] { return steps.ended() || !output.failure().empty(); };
  hooks.progress = [&](const RecordProgress& now, const std::function<RawRecording()>& recording) {
    output.turn(now, recording);
    progress.update(now, output.bytes(now));
  };
  if (!writes_trace_dat(options)) {
    hooks.sampled = [&](const StateSample& sample) { output.add(sample); };
    hooks.completed = [&](StateSample& sample) { complete_sample(sample, options.page_owner); };
  }
  if (output.is_one_file()) hooks.mapped = [&](UserMemory memory) { output.add(std::move(memory)); };
  const OpenSink open = [&](KernelDescription& kernel, const std::vector<unsigned>& cpus) {
    if (!kernel.kallsyms.has_addresses()) say_lack_of_symbols();
    RecordingSink* const sink = output.open(kernel, cpus);
    if (steps.begins) steps.begins();
    return sink;
  };
  hooks.described = open;
  hooks.started = [&] {
    no_huge_pages.end();
    progress.clear();
    if (steps.started) steps.started();
  };
  if (!steps.preparation.empty()) progress.show(steps.preparation);
  RecordedTrace trace{steps.record(hooks, open), {}};
  if (!output.failure().empty()) {
    trace.outcome.end = RecordEnd::cannot_write;
    trace.outcome.write_error = output.failure();
  }
  progress.clear();
  try {
    trace.written = output.finish(trace.outcome);
  } catch (Error& error) {
    if (writes_trace_dat(options)) throw;
    throw error.hint("The events that were written can be read; `kmemtrace repair` completes the file");
  }
  return trace;
}

void print_notes(const RecordOutcome& outcome) {
  if (outcome.filtered_by_pid_list)
    say("note: interrupts during the recorder's threads are not recorded: too many threads for an event filter\n");
  if (outcome.not_followed_processes > 0)
    say("warning: {} child processes could not be followed\n", outcome.not_followed_processes);
  if (outcome.own_events_recorded)
    say("note: the trace contains events of the recorder, because the kernel cannot filter them in a PID namespace "
        "(container). Record on the host to avoid this\n");
  if (!outcome.no_mappings_reason.empty())
    say("note: the kernel does not report mappings of programs ({}), so programs that started and ended during the "
        "recording have no names\n",
        outcome.no_mappings_reason);
  if (!outcome.lost_mappings.empty())
    say("warning: some mappings of programs were missed ({}), so some functions may have no names\n",
        outcome.lost_mappings);
  if (!outcome.lost_cgroup_moves.empty())
    say("warning: some moves of tasks between cgroups were missed ({}), so some tasks may be counted in their old "
        "cgroup\n",
        outcome.lost_cgroup_moves);
  if (!outcome.late_mappings.empty()) say("note: {}\n", outcome.late_mappings);
  if (outcome.unanswered_build_ids > 0)
    say("warning: the files of {} mappings could not be read, because their devices did not answer. These files have "
        "no build IDs, and function names only with --symfs\n",
        outcome.unanswered_build_ids);
  if (!outcome.left_instance.empty()) say_left_open(outcome.left_instance);
}

}  // namespace kmt
