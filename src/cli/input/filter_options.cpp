// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input/filter_options.hpp"

#include <fmt/format.h>

#include "cli/support/parse.hpp"

namespace kmt {

const char* const kWhichEventsCount =
    R"(Which events count: an allocation does when it passes all of --cpu, --pid, --comm, --context, --call-site, --cache and
--size; a free belongs to its allocation, whoever frees it. Outside of --time nothing is seen at all.)";

namespace {

// Globs may hold brackets, which CLI11 would take for a list's.
void add_globs(Command& command, const char* name, std::vector<std::string>& values, const std::string& help) {
  command.option(name, &values, "GLOB", help, {.repeats = true});
}

}  // namespace

void add_event_filter_options(Command& command, FilterOptions& options, const std::string& what) {
  command.option("--time", &options.time, "A,B",
                 "Only events from A on and before B, in seconds\nOn the trace's clock, as trace-cmd report prints it; "
                 "either may be left out. With a + in front it counts from the trace's first event: +1,+2.5");
  command.option("--cpu", &options.cpus, "LIST", fmt::format("Only {} on these CPUs: 0,2-3", what));
  command.option("--pid", &options.pids, "LIST", fmt::format("Only {} by these tasks: 1234,5678\nThread ids.", what));
  add_globs(command, "--comm", options.comms,
            fmt::format("Only {} by tasks of this name\nA glob as in a shell, 'kworker*'; may be given more than once. "
                        "What interrupts do belongs to no task but to '[softirq]', '[hardirq]' or '[nmi]'.",
                        what));
  command.option(
      "--context", &options.contexts, "CONTEXT",
      fmt::format("Only {} in this context: task, softirq, hardirq, nmi\nMay be given more than once.", what),
      {.words = {"task", "softirq", "hardirq", "nmi"}, .repeats = true});
}

void add_filter_options(Command& command, FilterOptions& options) {
  add_event_filter_options(command, options, "allocations made");
  add_globs(command, "--call-site", options.call_sites,
            "Only allocations made here: 'alloc_inode', 'ext4_*', 'copy_process+0x20e', '*[ext4]'\nA glob on the "
            "function, or on it with its offset, its module or both; may be given more than once.");
  add_globs(command, "--cache", options.caches,
            "Only objects of this slab cache: 'dentry', 'kmalloc-*'\nMay be given more than once. Where the kernel "
            "does not name the cache of an allocation it is found from the frees, in a pass of its own.");
  command.option("--size", &options.size, "A-B",
                 "Only allocations that were given so many bytes: 64-128, 4k-, -96\nSizes with their suffixes, both "
                 "ends included; either may be left out.");
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
