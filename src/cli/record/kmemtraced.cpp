// SPDX-License-Identifier: GPL-2.0-or-later
// Implements kmemtraced, the recorder of 2008. It records the running kernel into relay files in the working directory.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/new_file.hpp"
#include "base/units.hpp"
#include "capture/features/clocks.hpp"
#include "capture/ftrace/recorder.hpp"
#include "capture/tracefs/buffer_counters.hpp"
#include "capture/tracefs/tracefs.hpp"
#include "cli/record/messages.hpp"
#include "cli/record/request.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/interrupt.hpp"
#include "formats/relay/capture.hpp"
#include "formats/relay/live_writer.hpp"

namespace kmt {

namespace {

constexpr const char* kKmemtracedFooter = R"(Examples:
  mkdir capture && cd capture && kmemtraced      records until Ctrl+C
  kmemtrace_check cpu0.out                       checks the file of one CPU
  kmemtrace-report                               shows allocations by call site

kmemtraced writes the same files as kmemtrace in July 2008: a file cpuN.out for each CPU, and kallsyms, a copy of
/proc/kallsyms. The file total_overruns contains the number of lost events. `kmemtrace record` writes a trace that is
much smaller and also has pages, task names, caches and the times of losses.

Exit status:
  0  recorded
  2  wrong usage, or the files cannot be written
  3  not permitted or not supported here)";

// The events that relay files can store. Kernels before 6.1 have separate events for allocations on a given NUMA node.
constexpr const char* kEvents[] = {"kmalloc",          "kmalloc_node",          "kfree",
                                   "kmem_cache_alloc", "kmem_cache_alloc_node", "kmem_cache_free"};

RecordRequest request_for(const std::string& tracefs, const RecordOptions& options) {
  RecordRequest request = request_of(options, tracefs);
  const std::vector<EventName> available = available_events(tracefs);
  request.events.clear();
  for (const char* const name : kEvents)
    if (std::ranges::find(available, EventName{"kmem", name}) != available.end())
      request.events.push_back({"kmem", name});
  const std::vector<std::string> clocks = read_clocks(tracefs).offered;
  // kmemtraced of 2008 used this clock. If a kernel does not have it, the default clock is used.
  if (std::ranges::find(clocks, "mono") != clocks.end()) request.clock = "mono";
  return request;
}

// Refuses to record if the folder has files of other CPUs. These files may be from another machine or day, and would be
// read as a part of this recording.
void refuse_other_files(const std::vector<unsigned>& cpus) {
  std::vector<std::string> others;
  for (const std::string& name : names_in(".")) {
    const std::optional<unsigned> cpu = relay::cpu_of_name(name);
    if (cpu && std::ranges::find(cpus, *cpu) == cpus.end()) others.push_back(name);
  }
  if (others.empty()) return;
  throw Error(fmt::format("This folder contains files of another capture: {}", fmt::join(others, ", ")))
      .hint("Move these files to another folder, or run kmemtraced in another folder");
}

void print_end(const RecordOutcome& outcome, const relay::LiveWriter& writer, std::uint64_t lost) {
  BufferCounters sum;
  for (const RawCpu& cpu : outcome.recording.cpus) sum += parse_buffer_counters(cpu.statistics);
  say("{} events in {:.1f} s, {} in {} files\n", humane_count(sum.read), outcome.seconds, humane_bytes(writer.bytes()),
      outcome.recording.cpus.size());
  if (writer.omitted() > 0)
    say("note: {} events are not in the files, because the layout cannot store them: failed allocations, allocations "
        "of 0 bytes, and frees of NULL\n",
        humane_count(writer.omitted()));
  if (writer.repeated_frees() > 0)
    say("note: {} frees are not in the files, because the files already have calls of kfree_rcu() for these "
        "objects\n",
        humane_count(writer.repeated_frees()));
  if (writer.damaged_pages() > 0) say("warning: {} pages of the ring buffer were damaged\n", writer.damaged_pages());
  if (lost > 0) say("{} {} lost (see total_overruns)\n", humane_count(lost), lost == 1 ? "event was" : "events were");
  if (!outcome.left_instance.empty()) say_left_open(outcome.left_instance);
}

std::uint64_t lost_of(const RecordOutcome& outcome) {
  std::uint64_t lost = 0;
  for (const RawCpu& cpu : outcome.recording.cpus) {
    const BufferCounters counters = parse_buffer_counters(cpu.statistics);
    lost += counters.lost + counters.unread;
  }
  return lost;
}

void trace_into_files(const RecordOptions& options) {
  const InterruptGuard interrupt(SecondSignal::is_ignored);
  check_output("cpu0.out");
  const std::string tracefs = usable_tracefs();
  const RecordRequest request = request_for(tracefs, options);
  std::optional<relay::LiveWriter> writer;
  RecordHooks hooks;
  hooks.interrupted = [&] { return interrupt.interrupted(); };
  hooks.described = [&](const KernelDescription& kernel, const std::vector<unsigned>& cpus) -> PageSink* {
    refuse_other_files(cpus);
    ::unlink("total_overruns");  // the number of overruns is unknown until the end
    say("Copying /proc/kallsyms...\n");
    NewFile symbols("kallsyms");
    kernel.kallsyms.write_to([&symbols](std::string_view piece) { symbols.write(piece); });
    symbols.finish();
    if (!kernel.kallsyms.has_addresses()) say_lack_of_symbols();
    writer.emplace(".", kernel, cpus);
    say("Logging... Press Control-C to stop.\n");
    return &*writer;
  };
  const RecordOutcome outcome = record(tracefs, request, hooks);
  std::string failure = outcome.write_error;
  try {
    writer->finish();
  } catch (const Error& error) {
    failure = error.what();
  }
  const std::uint64_t lost = lost_of(outcome);
  if (failure.empty()) write_new_file("total_overruns", fmt::format("{}\n", lost));
  print_end(outcome, *writer, lost);
  if (failure.empty()) return;
  throw Error(fmt::format("The recording ended early: {}", failure))
      .hint("The files contain the events recorded before the error");
}

}  // namespace

Command kmemtraced_program() {
  const auto options = std::make_shared<RecordOptions>();
  options->output = "cpu0.out";
  Command program{
      "kmemtraced",
      "kmemtraced records the kernel's allocations and frees into files in the working directory, as in 2008.",
      kKmemtracedFooter, [options](const Command&) {
        trace_into_files(*options);
        return static_cast<int>(ExitCode::good);
      }};
  program.flag("--version", {}, "Show the version");
  program.option("-b,--buffer", &options->buffer, "SIZE",
                 "Use a ring buffer of SIZE for each CPU: 512k, 64M (default: depends on the measured rate of events)");
  program.option("-d,--duration", &options->duration, "T",
                 "Stop recording after time T: 10s, 5m (default: until Ctrl+C)");
  return program;
}

}  // namespace kmt
