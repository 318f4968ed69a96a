// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input/filter_options.hpp"

#include <fmt/format.h>

#include "cli/support/parse.hpp"

namespace kmt {

const char* const kWhichEventsCount =
    R"(Which events count: an allocation counts if it passes all of --cpu, --pid, --comm, --context, --call-site,
--cache and --size. A free counts with its allocation, no matter which task frees it. Events outside --time are
ignored.)";

namespace {

// Globs may have brackets, which CLI11 would take for a list.
void add_globs(Command& command, const char* name, std::vector<std::string>& values, const std::string& help) {
  command.option(name, &values, "GLOB", help, {.repeats = true});
}

}  // namespace

void add_event_filter_options(Command& command, FilterOptions& options, const std::string& what) {
  command.option("--time", &options.time, "A,B",
                 "Select events from A to before B, in seconds\nTimes are on the trace's clock, as trace-cmd report "
                 "prints them; either may be left out. A leading + counts from the trace's first event: +1,+2.5");
  command.option("--cpu", &options.cpus, "LIST", fmt::format("Select {} on these CPUs: 0,2-3", what));
  command.option("--pid", &options.pids, "LIST", fmt::format("Select {} by these tasks: 1234,5678\nThread ids.", what));
  add_globs(command, "--comm", options.comms,
            fmt::format("Select {} by tasks with this name\nA shell glob: 'kworker*'; may be given more than once. "
                        "Work in interrupts belongs to '[softirq]', '[hardirq]' or '[nmi]', not to a task.",
                        what));
  command.option(
      "--context", &options.contexts, "CONTEXT",
      fmt::format("Select {} in this context: task, softirq, hardirq, nmi\nMay be given more than once.", what),
      {.words = {"task", "softirq", "hardirq", "nmi"}, .repeats = true});
}

void add_filter_options(Command& command, FilterOptions& options) {
  add_event_filter_options(command, options, "allocations made");
  add_globs(command, "--call-site", options.call_sites,
            "Select allocations made at this call site: 'alloc_inode', 'ext4_*', 'copy_process+0x20e', '*[ext4]'\nA "
            "glob for the function, optionally with its offset, its module or both; may be given more than once.");
  add_globs(command, "--cache", options.caches,
            "Select objects of this slab cache: 'dentry', 'kmalloc-*'\nMay be given more than once. If the kernel does "
            "not name the cache of an allocation, an extra pass finds it from the frees.");
  command.option("--size", &options.size, "A-B",
                 "Select allocations of this many allocated bytes: 64-128, 4k-, -96\nSizes may have suffixes. Both "
                 "ends are included, and either may be left out.");
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
