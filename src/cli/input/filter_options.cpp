// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input/filter_options.hpp"

#include <fmt/format.h>

#include "cli/support/parse.hpp"

namespace kmt {

const char* const kWhichEventsCount =
    R"(An allocation is counted if it matches all of --cpu, --pid, --comm, --context, --call-site, --cache and --size. A
free is counted if its allocation is counted, whichever task frees the memory. Events outside --time are ignored.)";

namespace {

// Adds an option for globs. CLI11 would parse a word in brackets as a list, but a glob may have brackets.
void add_globs(Command& command, const char* name, std::vector<std::string>& values, const std::string& help) {
  command.option(name, &values, "GLOB", help, {.repeats = true});
}

}  // namespace

void add_event_filter_options(Command& command, FilterOptions& options, const std::string& what) {
  command.option("--time", &options.time, "A,B",
                 "Select events from time A until just before time B, in seconds\nTimes are on the clock of the trace, "
                 "as trace-cmd report prints them. A or B may be omitted. Times with a leading + are relative to the "
                 "first event of the trace: +1,+2.5");
  command.option("--cpu", &options.cpus, "LIST", fmt::format("Select {} on the CPUs in LIST: 0,2-3", what));
  command.option("--pid", &options.pids, "LIST",
                 fmt::format("Select {} by the tasks with these thread IDs: 1234,5678", what));
  add_globs(
      command, "--comm", options.comms,
      fmt::format(
          "Select {} by tasks whose name matches GLOB\nGLOB is a shell glob such as 'kworker*'. May be given more than "
          "once. Work in interrupts is named '[softirq]', '[hardirq]' or '[nmi]' and belongs to no task.",
          what));
  command.option(
      "--context", &options.contexts, "CONTEXT",
      fmt::format("Select {} in this context: task, softirq, hardirq, nmi\nMay be given more than once.", what),
      {.words = {"task", "softirq", "hardirq", "nmi"}, .repeats = true});
}

void add_filter_options(Command& command, FilterOptions& options) {
  add_event_filter_options(command, options, "allocations made");
  add_globs(command, "--call-site", options.call_sites,
            "Select allocations made at call sites that match GLOB: 'alloc_inode', 'ext4_*', 'copy_process+0x20e', "
            "'*[ext4]'\nGLOB matches the function, optionally with an offset, a module, or both. May be given more "
            "than once.");
  add_globs(command, "--cache", options.caches,
            "Select objects in slab caches that match GLOB: 'dentry', 'kmalloc-*'\nMay be given more than once. If the "
            "kernel does not name the caches in allocation events, an extra pass over the trace finds the names in the "
            "frees.");
  command.option("--size", &options.size, "A-B",
                 "Select allocations with A to B allocated bytes: 64-128, 4k-, -96\nSizes may have suffixes. The range "
                 "includes A and B. A or B may be omitted.");
}

ReportFilter filter_of(const FilterOptions& options) {
  ReportFilter filter;
  if (!options.time.empty()) {
    const TimeWindow window = parse_time_window(options.time);
    filter.from = window.from;
    filter.to = window.to;
  }
  if (!options.cpus.empty()) filter.cpus = parse_cpu_list(options.cpus);
  if (!options.pids.empty()) filter.pids = parse_pid_list(options.pids);
  if (!options.size.empty()) {
    const SizeRange range = parse_size_range(options.size);
    filter.least_bytes = range.least;
    filter.most_bytes = range.most;
  }
  filter.comms = options.comms;
  filter.contexts = options.contexts;
  filter.call_sites = options.call_sites;
  filter.caches = options.caches;
  return filter;
}

}  // namespace kmt
