// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/tracedat/records.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/confinement/outside.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/ftrace/event_format.hpp"
#include "formats/ftrace/page_writer.hpp"
#include "formats/tracedat/file.hpp"
#include "formats/tracedat/layout.hpp"
#include "formats/tracedat/pages.hpp"
#include "formats/tracedat/writer.hpp"
#include "trace/recorder_arguments.hpp"
#include "trace/ring_page.hpp"

namespace kmt::tracedat {

void read_records(const TraceFile& file, RecordSink& sink, Findings& findings) {
  FileContents contents = parse_file(file.bytes, findings);
  // If the trace has no list of clocks, use the name of the clock in the description of a buffer.
  KernelDescription& kernel = contents.description.kernel;
  for (const BufferData& buffer : contents.buffers)
    if (kernel.clock.empty()) kernel.clock = buffer.clock;
  const unsigned long_bytes = long_bytes_of_header_page(contents.description.kernel.header_page);
  sink.describe(contents.description);
  TraceInfo info;
  TraceDescription machine = contents.description;
  describe_machine(machine, info);
  UnpackedMemory unpacked(file.bytes.size());
  MissingCpus missing_cpus(contents, info);
  for (const BufferData& buffer : contents.buffers) {
    if (!is_possible_page_size(buffer.page_size)) continue;
    missing_cpus.report(buffer, findings);
    const PageLayout layout{contents.order(), long_bytes, buffer.page_size};
    for (const CpuData& data : buffer.cpus) {
      sink.begin_stream({data.cpu, buffer.name, static_cast<std::uint32_t>(buffer.page_size)});
      Pages pages(file.bytes, contents, buffer, data, unpacked);
      Bytes page;
      // Errors from reading become findings, but errors from the sink are thrown.
      const auto next_page = [&] {
        try {
          return pages.next(page);
        } catch (const Error& error) {
          findings.add({Imperfection::damaged_page, error.what(), data.cpu, error.place().offset});
          return false;
        }
      };
      while (next_page()) {
        if (const PageEnd end = read_page_header(page, layout).end; end.missed_events) sink.lost(end.missed_count);
        const PageEnd end = walk_page(
            page, layout, [&sink](std::uint64_t ticks, Bytes record, std::uint64_t) { sink.record(ticks, record); });
        if (end.damage != nullptr)
          findings.add({Imperfection::damaged_page, end.damage, data.cpu, pages.offset() + end.damage_offset});
      }
      sink.end_stream();
    }
  }
}

struct RecordWriter::State {
  std::string path;
  unsigned version;
  Findings& findings;
  RawRecording recording;
  std::unique_ptr<PageWriter> pages;
  unsigned cpu = 0;  // CPU of the current records
  std::vector<std::string> not_stored;
};

namespace {

// Removes the statistics of the CPU from `texts`. Returns them without the first line "CPU: N", which the writer adds
// again.
std::string take_statistics(std::vector<std::string>& texts, unsigned cpu) {
  const std::string head = fmt::format("CPU: {}\n", cpu);
  const auto found = std::ranges::find_if(texts, [&head](const std::string& text) { return text.starts_with(head); });
  if (found == texts.end()) return {};
  std::string statistics = found->substr(head.size());
  texts.erase(found);
  return statistics;
}

}  // namespace

RecordWriter::RecordWriter(const std::string& path, unsigned version, Findings& findings)
    : state_(new State{path, version, findings}) {}
RecordWriter::~RecordWriter() = default;

void RecordWriter::describe(const TraceDescription& description) {
  state_->recording.more_statistics = description.cpu_stats;
  if (names_some_tasks(description.kernel.notes)) state_->findings.add({Imperfection::some_tasks});
  if (!description.kernel.call_types.empty())
    state_->findings.add({Imperfection::left_out,
                          description.kernel.call_types.functions.empty()
                              ? "the types of calls' arguments and results"
                              : "the types of calls' arguments and results, and therefore also the strings and the "
                                "values of `graph --show` that were recorded with the arguments"});
  if (!description.kernel.user_memory.empty())
    state_->findings.add({Imperfection::left_out, "the code mappings of processes"});
  if (description.kernel.notes.contains("task_names"))
    state_->findings.add({Imperfection::left_out, "earlier names of tasks"});
  if (!description.samples.empty()) state_->not_stored.emplace_back("samples of the memory's state");
  const auto is_carried = [](const auto& note) {
    return std::ranges::find(kCarriedNotes, note.first, &CarriedNote::name) != kCarriedNotes.end();
  };
  if (!std::ranges::all_of(description.kernel.notes, is_carried))
    state_->not_stored.emplace_back("the recorder's notes, such as start time, arguments and probed functions");
  KernelDescription& kernel = state_->recording.kernel;
  kernel = description.kernel;
  name_machine(description.uname, kernel);
}

const std::vector<std::string>& RecordWriter::not_stored() const { return state_->not_stored; }

void RecordWriter::begin_stream(const RecordStream& stream) {
  if (!stream.buffer.empty())
    throw Error(fmt::format("Cannot write the buffer \"{}\": a trace.dat is written with one buffer only",
                            printable(stream.buffer)))
        .hint("Convert to .kmt instead, which can store all buffers");
  auto& cpus = state_->recording.cpus;
  auto known = std::find_if(cpus.begin(), cpus.end(), [&](const RawCpu& other) { return other.cpu == stream.cpu; });
  if (known != cpus.end() && !stream.goes_on)
    throw Error(fmt::format("The trace has two ring buffers of cpu {}", stream.cpu));
  if (known == cpus.end()) {
    known = cpus.emplace(known);
    known->cpu = stream.cpu;
    const std::string scratch = scratch_folder();
    known->pages =
        unnamed_file(scratch.empty() ? std::filesystem::absolute(state_->path).parent_path().string() : scratch);
    known->statistics = take_statistics(state_->recording.more_statistics, stream.cpu);
  }
  RawCpu& cpu = *known;
  state_->cpu = stream.cpu;
  KernelDescription& kernel = state_->recording.kernel;
  kernel.sub_buffer_bytes = is_possible_page_size(stream.page_bytes) ? stream.page_bytes : kernel.page_size;
  if (!is_possible_page_size(kernel.page_size))
    throw Error(fmt::format("Cannot write ring buffer pages of {} bytes", kernel.page_size));
  const PageLayout layout{kernel.byte_order, long_bytes_of_header_page(kernel.header_page), kernel.sub_buffer_bytes};
  state_->pages = std::make_unique<PageWriter>(layout, [&cpu, this](const std::vector<std::uint8_t>& page) {
    write_all(cpu.pages.get(), {reinterpret_cast<const char*>(page.data()), page.size()}, state_->path);
    cpu.bytes += page.size();
  });
}

void RecordWriter::record(std::uint64_t ticks, Bytes record) {
  if (state_->pages->record(ticks, record)) return;
  state_->findings.add({Imperfection::left_out,
                        fmt::format("a record of {} bytes, more than a page of the ring buffer", record.size()),
                        state_->cpu,
                        {},
                        state_->recording.kernel.clock_scale.to_ns(ticks)});
}

void RecordWriter::lost(std::optional<std::uint64_t> count) { state_->pages->lost(count); }
void RecordWriter::end_stream() {
  state_->pages->finish();
  state_->pages.reset();
}

void RecordWriter::finish() {
  auto& cpus = state_->recording.cpus;
  std::sort(cpus.begin(), cpus.end(), [](const RawCpu& a, const RawCpu& b) { return a.cpu < b.cpu; });
  if (std::string found = inherited_findings(state_->findings); !found.empty())
    state_->recording.more_statistics.push_back(std::move(found));
  write(state_->path, state_->version, state_->recording);
}

}  // namespace kmt::tracedat
