// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace stat
#include <chrono>
#include <optional>
#include <thread>

#include <unistd.h>

#include "analysis/series/memory_state.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "capture/bpf/watch/kernel_caches.hpp"
#include "capture/sideband/memory_state.hpp"
#include "cli/input/trace_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/confined.hpp"
#include "cli/support/output.hpp"
#include "cli/watch/counting_backend.hpp"
#include "cli/watch/live_run.hpp"
#include "results/heap/cache_counts.hpp"
#include "views/json/stat.hpp"
#include "views/text/heap/stat.hpp"

namespace kmt {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kShortestInterval = 10'000'000;  // ns
constexpr std::chrono::milliseconds kPause{5};

struct StatArguments {
  LiveOptions live;
  std::string backend = "auto";
  std::string interval;
  ResultOptions result;
};

constexpr const char* kStatFooter = R"(Examples:
  kmemtrace stat                       counts events of this machine until Ctrl+C
  kmemtrace stat -d 10s --interval 1s  counts per second, and in ten seconds
  kmemtrace stat -- make -j8           counts events of make and its child processes
  kmemtrace stat -a -- make -j8        counts events of the whole machine while make runs
  kmemtrace stat -p 812 -d 5s
  kmemtrace stat --interval 1s --json  prints one object per line, for scripts

The first line names the back end that counts (--backend). The following is about BPF programs, the default if they can
be used.

BPF programs count the events inside the kernel. No events are copied to user space, and each event costs some
nanoseconds. The counts are exact: the number of all events is Events plus Missed. An event is missed if it occurs while
the same event is being counted on its CPU. Only the number of missed events is known, not their bytes. The column
Missed is shown only if events were missed. Requested is the size that callers requested, and Allocated is the size that
was allocated. Frees show bytes only if the event has them; the event kfree has none.

The table of slab caches shows the objects that were allocated and freed with an event, on Linux 6.13 and later. Net is
allocated minus freed. Slabinfo is the change of active_objs in /proc/slabinfo during the same time. It includes
objects that the kernel allocates and frees without an event, and free objects in the slabs and sheaves of CPUs.

The kernel's memory counters are also shown, at the start and the end, or for each interval.

This command needs root. BPF programs need a kernel that describes its types (/sys/kernel/btf/vmlinux, or --btf FILE);
then CAP_BPF and CAP_PERFMON are enough. The other back ends need tracefs.

Exit status: the status of COMMAND, or 128 + N if signal N ended COMMAND. Otherwise:
  0  counted
  2  wrong usage, or COMMAND cannot be executed
  3  not permitted or not supported here)";

std::uint64_t since(Clock::time_point start) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - start).count());
}

// The counters and the state of memory, read at one moment.
struct Reading {
  std::uint64_t at_ns = 0;
  std::vector<StatRow> rows;
  CacheCounts caches;
  std::uint64_t not_followed = 0;
  std::uint64_t lost = 0;
  StateSample sample;
  std::vector<SlabInfo> slabs;  // empty if it is unknown
};

// `slabs` is null if objects are not counted by slab cache.
Reading read_now(EventCounting& counters, const KernelCaches* slabs, Clock::time_point start) {
  Reading reading;
  reading.at_ns = since(start);
  for (const EventCount& count : counters.read())
    reading.rows.push_back({to_string(count.event), count.has_bytes, count.may_fail, count.events, count.failed,
                            count.requested, count.allocated, count.missed});
  reading.caches = counters.read_caches();
  reading.not_followed = counters.not_followed();
  reading.lost = counters.lost();
  reading.sample = sample_memory_state();
  reading.sample.ticks = reading.at_ns;
  if (slabs != nullptr) reading.slabs = slabs->read(text_of(reading.sample, "slabinfo"));
  return reading;
}

StatResult result_between(const Reading& from, const Reading& to) {
  StatResult result;
  result.start_ns = from.at_ns;
  result.end_ns = to.at_ns;
  result.rows = difference(from.rows, to.rows);
  result.caches = difference(from.caches, to.caches);
  result.not_followed = to.not_followed - from.not_followed;
  result.lost = to.lost - from.lost;
  result.state = memory_state_of({from.sample, to.sample});
  return result;
}

std::optional<std::uint64_t> interval_of(const StatArguments& options) {
  if (options.interval.empty()) return {};
  const std::uint64_t interval = parse_duration(options.interval);
  if (interval < kShortestInterval)
    throw Error("--interval must be at least 10ms, because shorter intervals would distort the result");
  return interval;
}

int stat(const StatArguments& options) {
  const std::optional<std::uint64_t> interval = interval_of(options);
  LiveRun run(options.live);
  const OpenedCounting<EventCounting> opened =
      open_event_counting(options.backend, run.selection(), !options.live.no_probes);
  EventCounting& counters = *opened.counting;
  std::optional<KernelCaches> opened_slabs;
  if (counters.read_caches().counting == CacheCounting::counted) opened_slabs.emplace();
  const KernelCaches* const slabs = opened_slabs ? &*opened_slabs : nullptr;
  keep_watching();
  const auto print = [&](const Reading& from, const Reading& to, bool whole) {
    StatResult result = result_between(from, to);
    result.whole = whole;
    result.backend = opened.backend;
    result.selection = selection_text(options.live);
    if (result.selection.empty()) compare_with_slabinfo(result.caches, from.slabs, to.slabs);
    for (const EventName& event : counters.missing()) result.missing.push_back(to_string(event));
    result.memory = counters.kernel_memory();
    print_result(options.result.json ? json_stat(result, interval.has_value())
                                     : text_stat(result, stdout_style(options.result.style)));
  };
  const Clock::time_point start = Clock::now();
  const Reading first = read_now(counters, slabs, start);
  run.start("Counting");
  Reading last = first;
  std::uint64_t next = interval.value_or(0);
  while (!stdout_has_no_reader() && run.goes_on()) {
    if (interval && since(start) >= next) {
      Reading now = read_now(counters, slabs, start);
      print(last, now, false);
      last = std::move(now);
      // If the machine was suspended, all intervals during the suspension count as one.
      next += *interval * ((since(start) - next) / *interval + 1);
    }
    counters.drain();
    std::this_thread::sleep_for(kPause);
  }
  const Reading end = read_now(counters, slabs, start);
  // prints the last, shorter interval, so that all printed intervals add up to the total
  if (interval) print(last, end, false);
  print(first, end, true);
  return run.say_end();
}

}  // namespace

Command stat_command() {
  const auto options = std::make_shared<StatArguments>();
  Command command{"stat", "Count kernel memory events and their bytes inside the kernel.", kStatFooter,
                  [options](const Command&) { return stat(*options); }};
  add_live_options(command, options->live);
  add_counting_backend_option(command, options->backend);
  command.option("-I,--interval", &options->interval, "T",
                 "Also print the counts of each interval T: 1s, 100ms\nWith --json, print one object per line.");
  add_result_options(command, options->result, "kmemtrace.stat/1", "plain digits, and events with a count of 0");
  return command;
}

}  // namespace kmt
