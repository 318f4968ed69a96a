// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/records.hpp"

#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "formats/ctf/reader.hpp"
#include "formats/ctf/trace.hpp"
#include "formats/task_notes.hpp"

namespace kmt::ctf {

namespace {

void give(unsigned cpu, CpuEvents& events, RecordSink& sink, Findings& findings) {
  sink.begin_stream({cpu, "", 4096});
  while (const Step* const step = events.next()) {
    if (step->kind == Step::Kind::loss) sink.lost(step->lost);
    if (step->kind == Step::Kind::damage) {
      findings.add({Imperfection::damaged_stream, step->detail, cpu, {}, step->time_ns});
      sink.lost(std::nullopt);
    }
    if (step->kind != Step::Kind::event) continue;
    const std::uint64_t time_ns = step->time_ns;
    const EventRecord* const record = events.record();
    if (record == nullptr) {
      report(Imperfection::unknown_event, *step, cpu, findings);
      continue;
    }
    if (record->is_cut_off) report(Imperfection::cut_off_field, *step, cpu, findings);
    sink.record(time_ns, record->record);
    for (const Bytes stack : {record->stack, record->user_stack})
      if (!stack.empty()) sink.record(time_ns, stack);
  }
  sink.end_stream();
}

// Reads the whole trace to learn the names and processes of all tasks.
void learn_tasks(const TraceFile& file, KernelDescription& kernel, Findings& findings) {
  const std::unique_ptr<Source> source = open(file, {});
  std::set<std::int32_t> tasks;
  for (EventBatch batch; source->read(batch);)
    for (const Event& event : batch)
      if (event.tid > 0) tasks.insert(event.tid);
  const TraceInfo& info = source->info();
  for (const std::int32_t tid : tasks)
    if (const std::string_view name = task_name(info.tasks, tid, ~std::uint64_t{0}); name != "<...>")
      kernel.saved_cmdlines += fmt::format("{} {}\n", tid, printable(name));
  for (const auto& [tid, process] : std::map(info.tasks.thread_groups.begin(), info.tasks.thread_groups.end()))
    kernel.thread_groups += fmt::format("{} {}\n", tid, process);
  note_task_names(info.tasks.names, kernel.notes, findings);
}

}  // namespace

void read_records(const TraceFile& file, RecordSink& sink, Findings& findings) {
  Trace trace(file.path, findings);
  if (!trace.is_described) {
    learn_tasks(file, trace.description.kernel, findings);
    // No further losses are counted here, because the trace's packets have already counted all losses.
    trace.description.cpu_stats.emplace_back("dropped events: 0\n");
  }
  sink.describe(trace.description);
  for (auto& [cpu, events] : trace.cpus) give(cpu, events, sink, findings);
}

}  // namespace kmt::ctf
