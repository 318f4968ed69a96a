// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the writer of trace.dat by reading the files. In tests/live, trace-cmd reads such files.
#include "formats/tracedat/writer.hpp"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "formats/kmt/records.hpp"
#include "formats/registry.hpp"
#include "formats/tracedat/records.hpp"
#include "support/trace_dat_builder.hpp"

namespace kmt {
namespace {

using namespace test;

struct Case {
  Machine machine;
  unsigned version;
};

class WriterOf : public testing::TestWithParam<Case> {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  static std::string header_page(Machine machine) {
    const unsigned data = 8 + machine.long_bytes;
    return "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:" +
           std::to_string(machine.long_bytes) + ";\tsigned:1;\n\tfield: char data;\toffset:" + std::to_string(data) +
           ";\tsize:" + std::to_string(4096 - data) + ";\tsigned:1;\n";
  }

  // Returns the symbols as a recorder keeps them. They have more than one piece of text.
  static KallsymsText symbols(Machine machine) {
    std::string text;
    for (std::uint32_t i = 0; i < 4000; ++i)
      text += fmt::format("{:0{}x} T function_{}\n", 0x81000000u + 16 * i, 2 * machine.long_bytes, i);
    return KallsymsText::in_columns(text);
  }

  static RawRecording recording(Machine machine) {
    RawRecording made;
    KernelDescription& kernel = made.kernel;
    kernel.system_name = "Linux";
    kernel.node_name = "host";
    kernel.release = "6.1.0-test";
    kernel.machine = "arch";
    kernel.byte_order = machine.order;
    kernel.long_bytes = machine.long_bytes;
    kernel.cpus = 4;
    kernel.cpu_nodes = {0, 0, 1, 1};
    kernel.header_page = header_page(machine);
    kernel.header_event = "# compressed entry header\n";
    for (const auto& [system, text] : kmem_formats(machine)) kernel.formats.push_back({system, text});
    kernel.kallsyms = symbols(machine);
    kernel.saved_cmdlines = "7 worker\n";
    kernel.clock_choices = "local [mono]\n";
    kernel.clock = "mono";
    kernel.clock_scale.offset_ns = 1000;
    return made;
  }

  // Adds a CPU with one page, which contains a kfree of the pointer.
  static void add_cpu(RawRecording& made, Machine machine, unsigned number, std::uint64_t pointer) {
    RawCpu& cpu = made.cpus.emplace_back();
    cpu.cpu = number;
    cpu.statistics = "entries: 0\noverrun: " + std::to_string(number) + "\nread events: 1\n";
    if (pointer == 0) return;
    cpu.pages = unnamed_file(std::filesystem::temp_directory_path());
    const Page page = PageBuilder(machine, 100 + number).record(0, kfree_record(machine, 0x81000010, pointer)).build();
    write_all(cpu.pages.get(), {reinterpret_cast<const char*>(page.data()), page.size()}, "scratch");
    cpu.bytes = page.size();
  }

  std::string path_ = (std::filesystem::temp_directory_path() / ("writer-test-" + std::to_string(::getpid()))).string();
};
INSTANTIATE_TEST_SUITE_P(Machines, WriterOf,
                         testing::Values(Case{{ByteOrder::little, 8}, 6}, Case{{ByteOrder::big, 4}, 6},
                                         Case{{ByteOrder::little, 8}, 7}, Case{{ByteOrder::little, 4}, 7},
                                         Case{{ByteOrder::big, 8}, 7}, Case{{ByteOrder::big, 4}, 7}));

// A .kmt contains no pages, so the conversion must note that a CPU is missing.
TEST_P(WriterOf, MissingCpusStayMissing) {
  const auto [machine, version] = GetParam();
  RawRecording made = recording(machine);
  for (const unsigned cpu : {0u, 1u, 3u}) add_cpu(made, machine, cpu, 0x1000);
  tracedat::write(path_, version, made);
  const std::string converted = path_ + ".kmt";
  Findings findings;
  kmt_format::RecordWriter writer(converted, findings);
  read_records(path_, {}, writer, findings);
  writer.finish();
  const std::unique_ptr<Source> source = open_trace(converted);
  std::filesystem::remove(converted);
  // Version 6 lists all CPUs, so a missing CPU looks like a CPU without events.
  EXPECT_EQ(source->info().findings.count_of(Imperfection::missing_cpu), version == 6 ? 0u : 1u);
  for (const Finding& finding : source->info().findings.kept())
    if (finding.kind == Imperfection::missing_cpu) {
      EXPECT_EQ(finding.cpu, 2u);
    }
}

// CPU 1 has no events; CPU 2 is missing in the recording.
TEST_P(WriterOf, EverythingIsReadBack) {
  const auto [machine, version] = GetParam();
  RawRecording made = recording(machine);
  add_cpu(made, machine, 0, 0x1000);
  add_cpu(made, machine, 1, 0);
  add_cpu(made, machine, 3, 0x3000);
  tracedat::write(path_, version, made);

  const auto source = open_trace(path_);
  std::vector<Event> events;
  EventBatch batch;
  while (source->read(batch)) events.insert(events.end(), batch.begin(), batch.end());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].address, 0x1000u);
  EXPECT_EQ(events[0].time_ns, 1100u);  // the time includes the offset of the clock
  EXPECT_EQ(events[1].address, 0x3000u);
  EXPECT_EQ(events[1].cpu, 3);

  const TraceInfo& info = source->info();
  EXPECT_EQ(info.machine.kernel, "6.1.0-test");
  EXPECT_EQ(info.machine.arch, "arch");
  EXPECT_EQ(info.machine.byte_order, machine.order);
  EXPECT_EQ(info.machine.word_bits, machine.long_bytes * 8);
  EXPECT_EQ(info.machine.cpus, 4u);
  EXPECT_EQ(info.clock.name, "mono");
  EXPECT_EQ(info.tasks.comms.at(7), "worker");
  EXPECT_NE(made.kernel.kallsyms.columns(), nullptr);
  EXPECT_EQ(info.code.kallsyms, made.kernel.kallsyms.text());
  EXPECT_EQ(lost_events_per_cpu(info.losses, info.machine.cpus), (std::vector<std::uint64_t>{0, 1, 0, 3}));
  EXPECT_EQ(info.machine.cpu_nodes, (std::vector<std::int16_t>{0, 0, kNoNode, 1}));
  for (const Imperfection kind :
       {Imperfection::truncated_file, Imperfection::damaged_section, Imperfection::damaged_page})
    EXPECT_EQ(info.findings.count_of(kind), 0u) << describe(kind).id;
}

TEST_P(WriterOf, CpusThatWentOffLineAreReadBack) {
  const auto [machine, version] = GetParam();
  RawRecording made = recording(machine);
  add_cpu(made, machine, 0, 0x1000);
  made.kernel.late_notes["cpu_changes"] = "100 1 offline\n300 1 online\n";
  made.kernel.late_notes["recorder_tasks"] = "17 42";
  tracedat::write(path_, version, made);
  const auto source = open_trace(path_);
  std::vector<std::uint64_t> times;
  for (const Finding& finding : source->info().findings.kept())
    if (finding.kind == Imperfection::cpu_changed) times.push_back(finding.time_ns.value_or(0));
  EXPECT_EQ(times, (std::vector<std::uint64_t>{1100, 1300}));
  EXPECT_EQ(source->info().recording.notes.at("cpu_changes"), "100 1 offline\n300 1 online\n");
  EXPECT_EQ(source->info().recording.notes.at("recorder_tasks"), "17 42");
  EXPECT_EQ(source->info().losses.buffers.size(), 1u);
}

TEST_P(WriterOf, AFailedWriteLeavesTheOldFile) {
  const auto [machine, version] = GetParam();
  RawRecording made = recording(machine);
  add_cpu(made, machine, 0, 0x1000);
  tracedat::write(path_, version, made);
  const auto before = std::filesystem::file_size(path_);

  RawRecording broken = recording(machine);
  add_cpu(broken, machine, 0, 0x1000);
  broken.cpus[0].bytes = 8192;  // claims more bytes than the file has
  EXPECT_THROW(tracedat::write(path_, version, broken), Error);
  EXPECT_EQ(std::filesystem::file_size(path_), before);
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(path_).parent_path()))
    EXPECT_FALSE(entry.path().string().starts_with(path_ + ".unfinished")) << entry.path();
}

TEST(Writer, Version6CannotStoreOtherSubBufferSizes) {
  RawRecording made;
  made.kernel.sub_buffer_bytes = 8192;
  EXPECT_THROW(tracedat::write("/nonexistent/x.dat", 6, made), Error);
}

TEST(Writer, DataThatATraceDatCannotStoreIsReported) {
  const auto said = [](const CallTypes& types) {
    TraceDescription description;
    description.kernel.call_types = types;
    Findings findings;
    tracedat::RecordWriter("/nonexistent/x.dat", 7, findings).describe(description);
    std::string text;
    for (const Finding& finding : findings.kept()) text += finding.detail;
    return text;
  };
  EXPECT_EQ(said({}), "");
  EXPECT_EQ(said({{1}, {}}), "the types of calls' arguments and results");
  EXPECT_NE(said({{1}, {{"vfs_open", {}}}}).find("therefore also the strings"), std::string::npos);
}

}  // namespace
}  // namespace kmt
