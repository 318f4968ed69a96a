// SPDX-License-Identifier: GPL-2.0-or-later
// Tests hand-made perf.data files. They are read like any trace, so the format is detected too.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "analysis/matching/trace_summary.hpp"
#include "base/error.hpp"
#include "formats/registry.hpp"
#include "formats/tracedat/records.hpp"
#include "support/checked_sink.hpp"
#include "support/perf_data_builder.hpp"
#include "trace/tasks/processes.hpp"

namespace kmt {
namespace {

using namespace test;

struct Read {
  std::unique_ptr<Source> source;
  std::vector<Event> events;
  const TraceInfo& info() const { return source->info(); }
  std::uint64_t found(Imperfection kind) const { return info().findings.count_of(kind); }
  std::vector<std::uint64_t> times() const {
    std::vector<std::uint64_t> all;
    for (const Event& event : events) all.push_back(event.time_ns);
    return all;
  }
};

Read read_all(const Octets& file) {
  Read read;
  read.source = open_trace(TraceFile{"made by hand", file, nullptr});
  EventBatch batch;
  while (read.source->read(batch)) read.events.insert(read.events.end(), batch.begin(), batch.end());
  return read;
}

bool no_findings(const Read& read) {
  for (std::size_t kind = 0; kind < kImperfections.size(); ++kind)
    if (read.found(static_cast<Imperfection>(kind)) > 0) return false;
  return true;
}

using Times = std::vector<std::uint64_t>;

constexpr Machine kMachine{ByteOrder::little, 8};
constexpr std::uint64_t kSite = 0x81000010, kPointer = 0x87654320;
constexpr std::uint64_t kInKernel = ~std::uint64_t{127}, kInUser = ~std::uint64_t{511};

Octets kmalloc(Machine machine, std::uint64_t pointer = kPointer) {
  return kmalloc_record(machine, kSite, pointer, 100, 128, 42, Context::kHardIrq);
}

// Adds a kmalloc at each of these times.
PerfData& samples(PerfData& data, const Times& times, std::uint32_t cpu = 0) {
  for (const std::uint64_t time : times) data.sample({time, cpu, kmalloc(kMachine, time)});
  return data;
}

struct Case {
  Machine machine;
  bool pipe;
};
class PerfDataOf : public testing::TestWithParam<Case> {
 protected:
  static Octets bytes(const PerfData& data) { return GetParam().pipe ? data.pipe() : data.file(); }
};
INSTANTIATE_TEST_SUITE_P(Machines, PerfDataOf,
                         testing::Values(Case{{ByteOrder::little, 8}, false}, Case{{ByteOrder::little, 4}, false},
                                         Case{{ByteOrder::big, 8}, false}, Case{{ByteOrder::big, 4}, false},
                                         Case{{ByteOrder::little, 8}, true}, Case{{ByteOrder::little, 4}, true},
                                         Case{{ByteOrder::big, 8}, true}, Case{{ByteOrder::big, 4}, true}));

TEST_P(PerfDataOf, EveryFieldArrives) {
  const Machine machine = GetParam().machine;
  PerfData data(machine);
  data.features = {{3, data.text("host")}};  // perf always writes this feature
  data.sample({110, 1, kmalloc(machine)}).sample({120, 0, kfree_record(machine, kSite + 1, kPointer)}).round();
  const Read read = read_all(bytes(data));
  ASSERT_EQ(read.events.size(), 2u);
  const Event& kmalloc = read.events[0];
  EXPECT_EQ(kmalloc.kind, EventKind::kmalloc);
  EXPECT_EQ(kmalloc.time_ns, 110u);
  EXPECT_EQ(kmalloc.cpu, 1u);
  EXPECT_EQ(kmalloc.tid, 42);
  EXPECT_EQ(kmalloc.context, Context::kHardIrq);
  EXPECT_EQ(kmalloc.address, kPointer);
  EXPECT_EQ(kmalloc.bytes_requested, 100u);
  EXPECT_EQ(kmalloc.bytes_allocated, 128u);
  EXPECT_EQ(kmalloc.gfp_flags, 0xdc0u);
  EXPECT_EQ(kmalloc.node, kNoNode);
  EXPECT_TRUE(read.info().tables.stacks[kmalloc.stack].empty());
  EXPECT_FALSE(read.info().tables.stacks.has_stacks());
  EXPECT_EQ(read.info().tables.call_sites[kmalloc.call_site.value], kSite);
  EXPECT_EQ(read.events[1].kind, EventKind::kfree);
  EXPECT_EQ(read.events[1].address, kPointer);
  EXPECT_EQ(read.info().machine.word_bits, machine.long_bytes * 8);
  EXPECT_EQ(read.info().machine.byte_order, machine.order);
  EXPECT_EQ(read.info().machine.page_size, 4096u);
  EXPECT_EQ(read.info().clock.name, "perf");
  EXPECT_EQ(read.info().machine.cpus, 2u);
  EXPECT_TRUE(no_findings(read));
}

TEST_P(PerfDataOf, TheMachineIsDescribed) {
  PerfData data(GetParam().machine);
  const auto strings = [&data](const std::vector<std::string>& texts) {
    ByteBuilder out = data.bytes();
    out.u32(static_cast<std::uint32_t>(texts.size()));
    for (const std::string& text : texts) out.bytes(data.text(text));
    return out.get();
  };
  ByteBuilder nodes = data.bytes();
  nodes.u32(2).u32(0).u64(1).u64(1).bytes(data.text("0,2-3")).u32(1).u64(1).u64(1).bytes(data.text("1"));
  data.features = {{3, data.text("host")},
                   {4, data.text("6.1.0-test")},
                   {5, data.text("6.1.9")},
                   {6, data.text("riscv64")},
                   {7, data.bytes().u32(4).u32(3).get()},
                   {11, strings({"perf", "record", "-a"})},
                   {14, nodes.get()},
                   {29, data.bytes().u32(1).u32(1).u64(1'700'000'000'000'000'000).u64(5).get()}};
  data.sample({1, 0, kmalloc(GetParam().machine)});
  data.attributes[0].flags = {18, 25};
  data.attributes[0].clock = 1;
  const Read read = read_all(bytes(data));
  const TraceInfo& info = read.info();
  EXPECT_EQ(info.machine.kernel, "6.1.0-test");
  EXPECT_EQ(info.machine.arch, "riscv64");
  EXPECT_EQ(info.machine.cpus, 4u);
  EXPECT_EQ(info.clock.name, "mono");
  EXPECT_EQ(info.machine.cpu_nodes, (std::vector<std::int16_t>{0, 1, 0, 0}));
  EXPECT_EQ(info.recording.notes.at("recorder"), "perf 6.1.9");
  EXPECT_EQ(info.recording.notes.at("arguments"), "perf record -a");
  EXPECT_EQ(info.recording.notes.at("recorded_at"), "2023-11-14T22:13:20Z");
  EXPECT_TRUE(no_findings(read));
}

TEST_P(PerfDataOf, SeveralEventsAreDistinguishedByIds) {
  const Machine machine = GetParam().machine;
  PerfData data(machine);
  PerfAttribute with_chain;
  with_chain.sample_type = kUsual | kCallchain | kRead | kStreamId | kAddr;
  with_chain.read_format = 4 | 8 | 16;  // read format of a group of events, with IDs and lost counts
  with_chain.ids = {20, 21};
  data.features = {{3, data.text("host")}};
  data.attributes = {{kUsual, {10, 11}}, with_chain};
  data.sample({100, 0, kmalloc(machine), 10});
  const std::vector<std::uint64_t> chain = {kInKernel, 0xabc, 0xdef, kInUser, 0x1234};
  data.sample({101, 1, kmalloc(machine), 21, chain, {2, 1, 20, 0, 1, 21, 0}}, with_chain);
  data.sample({102, 1, kmalloc(machine), 11});
  data.sample({103, 1, kmalloc(machine), 77});  // no event has this ID
  const Read read = read_all(bytes(data));
  EXPECT_EQ(read.times(), (Times{100, 101, 102}));
  const auto stack = read.info().tables.stacks[read.events[1].stack];
  EXPECT_EQ(Times(stack.begin(), stack.end()), (Times{0xabc, 0xdef}));
  EXPECT_EQ(read.found(Imperfection::unknown_event), 1u);
}

TEST(PerfData, IdsMayBeAtThePositionOfOldKernels) {
  PerfData data(kMachine);
  const std::uint64_t type = kIp | kTid | kTime | kId | kCpu | kPeriod | kRaw;
  data.attributes = {{type, {10}}, {type, {20}}};
  data.sample({100, 0, kmalloc(kMachine), 20}).lost(3, 105, 1);
  const Read read = read_all(data.file());
  EXPECT_EQ(read.times(), Times{100});
  ASSERT_EQ(read.info().losses.intervals.size(), 1u);
  EXPECT_EQ(read.info().losses.intervals[0].cpu, 1u);
}

TEST(PerfData, KernelChainsAreStoredOnce) {
  PerfData data(kMachine);
  data.attributes[0].sample_type |= kCallchain;
  const auto sample = [&](std::uint64_t time, const std::vector<std::uint64_t>& chain) {
    data.sample({time, 0, kmalloc(kMachine), 1, chain});
  };
  sample(1, {kInUser, 1, 2});
  sample(2, {kInKernel, 5, 6});
  sample(3, {kInUser, 1, kInKernel, 5, 6});
  sample(4, {~std::uint64_t{31}, 9, kInKernel, 7});  // a part of the chain for a hypervisor
  sample(5, {});
  sample(6, std::vector<std::uint64_t>(1000, kInKernel));
  const Read read = read_all(data.file());
  ASSERT_EQ(read.events.size(), 6u);
  EXPECT_EQ(read.events[0].stack, StackId{});
  EXPECT_EQ(read.events[1].stack, StackId{1});
  EXPECT_EQ(read.events[2].stack, StackId{1});
  EXPECT_EQ(read.events[3].stack, StackId{2});
  EXPECT_EQ(read.info().tables.stacks[{2}].size(), 1u);
  // This chain contains only the address that was executed.
  EXPECT_TRUE(read.info().tables.stacks[read.events[4].stack].empty());
}

// Returns the user stack of an event, as offsets in the code's objects.
std::vector<std::uint64_t> user_stack_of(const Read& read, std::size_t event) {
  std::vector<std::uint64_t> places;
  for (const std::uint64_t frame : read.info().tables.stacks.user(read.events[event].stack))
    places.push_back(read.info().code.user.frames[frame].offset);
  return places;
}

// With perf record --call-graph dwarf, the chain contains only the kernel part. The user registers follow at the end of
// the record.
TEST(PerfData, ProgramCounterIsReadFromRegisters) {
  PerfData data(kMachine);
  data.features = {{6, data.text("x86_64")}};
  PerfAttribute& attribute = data.attributes[0];
  attribute.sample_type |= kCallchain | kBranchStack | kUserRegisters;
  attribute.branch_type = 1 << 17;
  attribute.user_registers = 0x1e1;  // mask of the recorded registers: four, then ip
  const Octets raw = kmalloc_record(kMachine, kSite, kPointer, 100, 128, 42, 0);
  const std::vector<std::uint64_t> branch = {1, 0, 11, 12, 13}, registers = {2, 91, 92, 93, 94, 0x4321};
  const auto sample = [&](std::uint64_t time, std::vector<std::uint64_t> chain, std::vector<std::uint64_t> after) {
    after.insert(after.begin(), branch.begin(), branch.end());
    data.sample({time, 0, raw, 1, chain, {}, after});
  };
  sample(1, {kInKernel, 5}, registers);
  sample(2, {kInKernel, 5}, {0});  // a kernel thread has no user registers
  sample(3, {kInKernel, 5, kInUser, 0x1234}, registers);
  sample(4, {}, registers);
  sample(5, {kInKernel, 5}, {2, 91});  // cut off
  const Read read = read_all(data.file());
  ASSERT_EQ(read.events.size(), 5u);
  EXPECT_EQ(user_stack_of(read, 0), std::vector<std::uint64_t>{0x4321});
  EXPECT_EQ(read.info().tables.stacks[read.events[0].stack].size(), 1u);
  EXPECT_TRUE(user_stack_of(read, 1).empty());
  EXPECT_EQ(user_stack_of(read, 2), std::vector<std::uint64_t>{0x1234});
  EXPECT_EQ(user_stack_of(read, 3), std::vector<std::uint64_t>{0x4321});
  EXPECT_TRUE(user_stack_of(read, 4).empty());
}

// With --call-graph fp,defer, the chain ends with a mark and a cookie. The user part follows when the task returns to
// the program (include/uapi/linux/perf_event.h, Linux 6.19).
TEST(PerfData, DeferredUserStacksAreJoinedByTheirCookie) {
  constexpr std::uint64_t kDeferred = ~std::uint64_t{639};
  PerfData data(kMachine);
  data.attributes[0].sample_type |= kCallchain;
  data.attributes[0].flags.push_back(38);
  const Octets raw = kmalloc_record(kMachine, kSite, kPointer, 100, 128, 42, 0);
  const auto sample = [&](std::uint64_t time, const std::vector<std::uint64_t>& chain) {
    data.sample({time, 0, raw, 1, chain});
  };
  const auto deferred = [&](std::uint64_t cookie, const std::vector<std::uint64_t>& chain) {
    ByteBuilder record = data.bytes();
    record.u64(cookie).u64(chain.size());
    for (const std::uint64_t address : chain) record.u64(address);
    data.kernel_record(22, record.get(), 10, 0, 1, 2);
  };
  sample(1, {kInKernel, 5, kDeferred, 0xabc});
  sample(2, {kInKernel, 6, kDeferred, 0xabc});  // the task has not returned since sample 1
  sample(3, {kInKernel, 5, kDeferred, 0xdef});
  sample(4, {kInKernel, 5, kDeferred, 0x999});  // the recording ended before the task returned
  data.round();
  data.round();
  deferred(0xdef, {kInUser, 0x20});
  deferred(0xabc, {kInUser, 0x10, 0x11});
  const Read read = read_all(data.file());
  ASSERT_EQ(read.events.size(), 4u);
  EXPECT_EQ(user_stack_of(read, 0), (Times{0x10, 0x11}));
  EXPECT_EQ(user_stack_of(read, 1), (Times{0x10, 0x11}));
  EXPECT_EQ(user_stack_of(read, 2), Times{0x20});
  EXPECT_TRUE(user_stack_of(read, 3).empty());
  EXPECT_EQ(read.info().tables.stacks[read.events[0].stack].size(), 1u) << "the cookie is no address";
  EXPECT_EQ(read.found(Imperfection::missing_section), 1u);
}

// formats/perfdata/rounds.hpp describes which events are released (passed on) at the end of each round.
TEST(PerfData, RoundsPutEventsInOrder) {
  PerfData data(kMachine);
  samples(data, {10, 30}, 0);
  samples(data, {12, 20}, 1);
  data.round();  // releases no events, because the next round may contain events before 30
  samples(data, {35, 50}, 0);
  samples(data, {25, 40}, 1);
  data.round();  // releases events up to 30
  samples(data, {45}, 1);
  data.round();  // releases events up to 50
  samples(data, {60}, 1);
  const Read read = read_all(data.file());
  EXPECT_EQ(read.times(), (Times{10, 12, 20, 25, 30, 35, 40, 45, 50, 60}));
  EXPECT_TRUE(no_findings(read));
}

TEST(PerfData, LateEventsAreReported) {
  PerfData data(kMachine);
  samples(data, {10, 30}).round();
  samples(data, {40}).round();  // releases events up to 30
  samples(data, {20, 50});
  const Read read = read_all(data.file());
  EXPECT_EQ(read.times(), (Times{10, 30, 20, 40, 50}));
  EXPECT_EQ(read.found(Imperfection::late_event), 1u);
}

TEST(PerfData, KernelRecordsCountForRounds) {
  PerfData data(kMachine);
  samples(data, {10});
  data.comm(7, 7, "late", 30).round();
  samples(data, {20}, 1).round();  // releases events up to 30, which is the time of the task's record
  samples(data, {40}, 0).round();
  samples(data, {35}, 1);
  const Read read = read_all(data.file());
  EXPECT_EQ(read.times(), (Times{10, 20, 35, 40}));
  EXPECT_EQ(read.found(Imperfection::late_event), 0u);
}

TEST(PerfData, WithoutRoundsAllEventsAreSorted) {
  PerfData data(kMachine);
  samples(data, {50, 60}, 0);
  samples(data, {10, 55}, 1);
  data.sample({55, 0, kmalloc(kMachine)});
  const Read read = read_all(data.file());
  EXPECT_EQ(read.times(), (Times{10, 50, 55, 55, 60}));
  EXPECT_EQ(read.events[2].cpu, 0u);  // events with equal times are sorted by CPU
}

TEST(PerfData, CompressedRecordsMaySpanPieces) {
  for (const std::uint32_t type : {81u, 83u}) {
    for (const std::size_t piece : {5u, 64u, 4096u}) {
      PerfData data(kMachine);
      Times times;
      for (std::uint64_t time = 1; time <= 300; ++time) times.push_back(time);
      samples(data, times).lost(2, 301, 0).compress(piece, type).round();
      samples(data, {400});  // not compressed
      const Read read = read_all(data.file());
      times.push_back(400);
      EXPECT_EQ(read.times(), times) << piece;
      EXPECT_EQ(total_lost_events(read.info().losses), 2u);
    }
  }
}

TEST(PerfData, DamagedCompressionIsReportedAndTheRestIsRead) {
  PerfData data(kMachine);
  samples(data, {1, 2, 3}).compress(4096);
  samples(data, {10}).round();
  Octets file = data.file();
  file[data.data_offset() + 8] ^= 0xFF;  // damages the magic number of zstd
  const Read read = read_all(file);
  EXPECT_EQ(read.times(), Times{10});
  EXPECT_EQ(read.found(Imperfection::damaged_section), 1u);
}

// In a zstd stream, data depends on earlier data, so nothing after the first damage is reliable.
TEST(PerfData, CompressedRecordsEndAtDamage) {
  const std::vector<Octets> bad = {
      PerfData(kMachine).bytes().u32(9).u16(0).u16(4).get(),        // an impossible size
      PerfData(kMachine).bytes().u32(9).u16(0).u16(9).u8(1).get(),  // the size is not a multiple of a word
      PerfData(kMachine).bytes().u32(81).u16(0).u16(16).get(),      // compressed again
      PerfData(kMachine).bytes().u32(0).u16(0).u16(8).get(),        // type 0, which does not exist
      PerfData(kMachine).bytes().u32(9).u16(0).u16(8).get()};       // a sample without its fields
  for (const Octets& damage : bad) {
    for (const std::size_t piece : {16u, 4096u}) {
      PerfData data(kMachine);
      samples(data, {1, 2, 3}).append(damage);
      samples(data, {4, 5, 6}).compress(piece).round();
      samples(data, {10});  // not compressed
      const Read read = read_all(data.file());
      // All these records are compressed as one zstd block. If the header of a record is damaged, the whole block is
      // unreliable.
      const bool in_header = &damage != &bad.back();
      EXPECT_EQ(read.times(), (in_header ? Times{10} : Times{1, 2, 3, 10})) << &damage - bad.data();
      EXPECT_EQ(read.found(Imperfection::damaged_section), 1u);
      EXPECT_EQ(read.found(Imperfection::truncated_file), 0u);
    }
  }
}

TEST(PerfData, CompressedRecordsContinueAtANewStream) {
  const auto compressed = [](PerfData& data) {
    data.compress(4096);
    const Octets file = data.file();
    const auto begin = file.begin() + static_cast<std::ptrdiff_t>(data.data_offset());
    return Octets(begin, begin + static_cast<std::ptrdiff_t>(data.size()));
  };
  PerfData damaged(kMachine);
  samples(damaged, {1}).append(PerfData(kMachine).bytes().u32(0).u16(0).u16(8).get());
  samples(damaged, {2});
  PerfData sound(kMachine);
  samples(sound, {3});
  PerfData both(kMachine);
  both.append(compressed(damaged)).append(compressed(sound));
  const Read read = read_all(both.file());
  EXPECT_EQ(read.times(), Times{3});
  EXPECT_EQ(read.found(Imperfection::damaged_section), 1u);
}

TEST(PerfData, ImpossibleLossCountsAreDamage) {
  PerfData data(kMachine);
  samples(data, {1}).lost(std::uint64_t{0xFFFF} << 48, 2, 0).lost(5, 3, 0);
  const Read read = read_all(data.file());
  EXPECT_EQ(total_lost_events(read.info().losses), 5u);
  EXPECT_EQ(read.found(Imperfection::damaged_record), 1u);
}

TEST(PerfData, TruncatedCompressedRecordsAreReported) {
  for (const std::size_t cut : {1u, 8u, 50u}) {
    PerfData data(kMachine);
    samples(data, {1, 2, 3, 4});
    const Octets whole = data.file();
    Octets last(whole.begin() + static_cast<std::ptrdiff_t>(data.data_offset()), whole.end());
    last.resize(data.size() / 4 - cut);
    data.append(last).compress(32).round();
    const Read read = read_all(data.file());
    EXPECT_EQ(read.times(), (Times{1, 2, 3, 4}));
    EXPECT_EQ(read.found(Imperfection::truncated_file), 1u) << cut;
  }
}

TEST(PerfData, RecordsOfUnknownTypesAreReported) {
  PerfData data(kMachine);
  samples(data, {1}).record(30, 0, Octets(8)).record(0, 0, {}).record(200, 0, {});
  data.record(19, 0, Octets(8));  // a cgroup record: the reader knows this type and does not use it
  const Read read = read_all(data.file());
  EXPECT_EQ(read.times(), Times{1});
  EXPECT_EQ(read.found(Imperfection::unknown_section), 3u);
}

TEST(PerfData, SamplesDroppedByAFilterAreNotLost) {
  PerfData data(kMachine);
  samples(data, {10});
  data.kernel_record(13, data.bytes().u64(4).get(), 0, 0, 1, 0x8000);
  const Read read = read_all(data.file());
  EXPECT_EQ(total_lost_events(read.info().losses), 0u);
  EXPECT_EQ(read.found(Imperfection::lost_events), 0u);
}

TEST(PerfData, LossHasItsPositionAndIsCountedOnce) {
  PerfData data(kMachine);
  data.attributes[0].ids = {1, 2};
  samples(data, {10}, 0);
  samples(data, {11}, 1);
  data.lost(5, 20, 1);
  samples(data, {21}, 1).round();
  // At the end of the file, perf writes records with totals of lost samples. They have no time and no CPU. However,
  // they have the ID of an event, which belongs to a CPU.
  ByteBuilder index = data.bytes();
  index.u64(2).u64(1).u64(0).u64(0).u64(~std::uint64_t{0}).u64(2).u64(1).u64(1).u64(~std::uint64_t{0});
  PerfData whole(kMachine);
  whole.attributes = data.attributes;
  whole.record(69, 0, index.get());
  samples(whole, {10}, 0);
  samples(whole, {11}, 1);
  whole.lost(5, 20, 1);
  samples(whole, {21}, 1);
  whole.kernel_record(13, whole.bytes().u64(4).get(), 0, 0, 2).kernel_record(13, whole.bytes().u64(3).get(), 0, 0, 2);
  whole.kernel_record(13, whole.bytes().u64(1).get(), 0, 0, 1);

  const Read marks = read_all(data.file());
  ASSERT_EQ(marks.info().losses.intervals.size(), 1u);
  const LostEvents& lost = marks.info().losses.intervals[0];
  EXPECT_EQ(lost.cpu, 1u);
  EXPECT_EQ(lost.count, 5u);
  EXPECT_EQ(lost.before_ns, 11u);
  EXPECT_EQ(lost.after_ns, 20u);
  EXPECT_EQ(marks.found(Imperfection::lost_events), 5u);
  EXPECT_EQ(lost_events_per_cpu(read_all(whole.file()).info().losses, 0), (std::vector<std::uint64_t>{1, 7}));
}

TEST(PerfData, TasksHaveNamesOverTime) {
  PerfData data(kMachine);
  data.comm(7, 7, "old", 0).comm(7, 9, "thread", 0);  // tasks that ran before the recording
  samples(data, {10});
  data.fork(20, 20, 7, 100).comm(7, 7, "new", 150).fork(21, 21, 7, 200).comm(20, 20, "program", 250).round();
  const Read read = read_all(data.file());
  const TraceInfo& info = read.info();
  EXPECT_EQ(task_name(info.tasks, 7, 50), "old");
  EXPECT_EQ(task_name(info.tasks, 7, 160), "new");
  EXPECT_EQ(task_name(info.tasks, 9, 160), "thread");
  EXPECT_EQ(task_name(info.tasks, 20, 120), "old");
  EXPECT_EQ(task_name(info.tasks, 20, 260), "program");
  EXPECT_EQ(task_name(info.tasks, 21, 260), "new");
  EXPECT_EQ(task_name(info.tasks, 22, 260), "<...>");
  EXPECT_EQ(thread_group(info.tasks, 9), 7);
  EXPECT_EQ(thread_group(info.tasks, 20), 20);
}

TEST(PerfData, TasksHaveStartsAndEnds) {
  PerfData data(kMachine);
  const auto fork = [&data](unsigned process, unsigned task, unsigned parent_process, unsigned parent,
                            std::uint64_t time) {
    const Octets ids = data.bytes().u32(process).u32(parent_process).u32(task).u32(parent).u64(time).get();
    data.kernel_record(7, ids, time, 0);
  };
  fork(7, 7, 1, 1, 0);  // a process that perf found in /proc
  fork(7, 9, 7, 7, 0);
  fork(20, 20, 7, 9, 100);
  fork(20, 21, 20, 20, 150);
  fork(30, 30, 20, 21, 200);
  samples(data, {210});
  fork(7, 7, 20, 20, 300);
  fork(40, 40, 1, 1, 0);  // recorded when the process had ended (--tail-synthesize)
  const Read read = read_all(data.file());
  const TraceInfo& info = read.info();
  const auto ancestor = [&info](std::int32_t tid, std::uint64_t time_ns) {
    return oldest_ancestor(info.tasks, process_at(info.tasks, tid, time_ns)).pid;
  };
  EXPECT_EQ(ancestor(7, 50), 7);
  EXPECT_EQ(process_at(info.tasks, 9, 50).pid, 7);
  EXPECT_EQ(process_at(info.tasks, 21, 160).pid, 20);
  EXPECT_EQ(ancestor(21, 160), 7);
  EXPECT_EQ(ancestor(30, 210), 7);
  EXPECT_EQ(ancestor(7, 310), 7) << "created by 20, which the first task with that id created";
  EXPECT_TRUE(info.tasks.lives.is_used_again(7));
  EXPECT_EQ(info.tasks.lives.known_at_begin(40), nullptr);
  EXPECT_EQ(info.tasks.lives.known_later(40)->parent, 1);
}

// In a file without rounds, half of the waiting records are released when a million are waiting. Records of 16 and 32
// bytes keep the file small.
TEST(PerfData, TaskRecordsPrecedeTheirEventsInAnyQueue) {
  constexpr std::uint64_t kEach = 600'000;
  PerfData data(kMachine);
  data.attributes[0] = {kTime, {1}, 0};
  for (std::uint64_t time = 1; time <= kEach; ++time) {
    data.comm(7, 7, time == 1 ? "early" : "later", 10 * time);
    data.record(9, 1, data.bytes().u64(10 * time + 5).get());
  }
  Read read;
  const Octets file = data.file();
  read.source = open_trace(TraceFile{"made by hand", file, nullptr});
  EventBatch batch;
  ASSERT_TRUE(read.source->read(batch));
  EXPECT_LT(read.source->progress(), 0.95);  // names change in order of time, so not all records are read at once
  EXPECT_EQ(task_name(read.info().tasks, 7, batch.front().time_ns), "early");
  EXPECT_EQ(task_name(read.info().tasks, 7, batch.back().time_ns), "later");
  std::uint64_t events = batch.size();
  while (read.source->read(batch)) events += batch.size();
  EXPECT_EQ(events, kEach);
  EXPECT_EQ(read.found(Imperfection::late_event), 0u);
  EXPECT_EQ(read.found(Imperfection::no_memory_events), 1u);  // these events are not tracepoints
}

// Newer versions of perf write build IDs into the records of mappings, and no longer write a feature with build IDs.
TEST(PerfData, TheKernelIsIdentifiedByMmap2Records) {
  for (const bool at_the_end : {false, true}) {  // at the end with perf record --tail-synthesize
    PerfData data(kMachine);
    if (at_the_end) samples(data, {1});
    const auto mapping = [&](const char* name, std::uint64_t reference, std::uint8_t first, std::uint16_t misc) {
      ByteBuilder out = data.bytes();
      out.u32(~0u).u32(0).u64(0xffffffff81000000).u64(0x1000).u64(reference);
      out.u8(20).u8(0).u16(0).u8(first).pad_to(32 + 24).u32(5).u32(2).c_string(name).align(8);
      data.kernel_record(10, out.get(), 0, 0, 1, misc);
    };
    mapping("[kernel.kallsyms]_text", 0xffffffff81000123, 0xab, 1 | 1 << 14);
    mapping("[ext4]", 0, 0xcd, 1 | 1 << 14);
    mapping("[xfs]", 0, 0xcd, 1);                         // contains a file number instead of a build ID
    mapping("/usr/lib/libc.so.6", 0, 0xef, 2 | 1 << 14);  // user space
    if (!at_the_end) samples(data, {1});
    const Read read = read_all(data.file());
    ASSERT_EQ(read.info().recording.notes.count("kernel_build_id"), 1u) << at_the_end;
    EXPECT_EQ(read.info().recording.notes.at("kernel_build_id"), "ab00000000000000000000000000000000000000");
    EXPECT_EQ(read.info().recording.notes.at("module_build_ids"), "ext4 cd00000000000000000000000000000000000000\n");
    EXPECT_EQ(read.info().recording.notes.at("kernel_reference"), "_text ffffffff81000123");
    EXPECT_TRUE(no_findings(read));
  }
}

TEST(PerfData, TheKernelIsIdentifiedByBuildIdAndAddress) {
  PerfData data(kMachine);
  const auto mapping = [&](const char* name, std::uint64_t reference) {
    ByteBuilder out = data.bytes();
    out.u32(~0u).u32(0).u64(0xffffffff81000000).u64(0x1000).u64(reference).c_string(name).align(8);
    data.kernel_record(1, out.get(), 0, 0, 1, 1);
  };
  mapping("[kernel.kallsyms]_stext", 0xffffffff81000123);
  mapping("[ext4]", 0);
  samples(data, {1});
  const auto build_id = [&](std::uint16_t misc, std::uint8_t first, std::uint8_t size, const char* path) {
    ByteBuilder out = data.bytes();
    out.u32(~0u).u8(first).pad_to(4 + 20).u8(size).pad_to(4 + 24).c_string(path).align(8);
    ByteBuilder record = data.bytes();
    return record.u32(67).u16(misc).u16(static_cast<std::uint16_t>(8 + out.size())).bytes(out.get()).get();
  };
  ByteBuilder ids = data.bytes();
  ids.bytes(build_id(1, 0xab, 0, "[kernel.kallsyms]")).bytes(build_id(0x8001, 0xcd, 2, "/lib/modules/6.1/a-b.ko.xz"));
  ids.bytes(build_id(2, 0xef, 0, "/usr/bin/true"));
  data.features = {{2, ids.get()}};
  const Read read = read_all(data.file());
  EXPECT_EQ(read.info().recording.notes.at("kernel_build_id"), "ab00000000000000000000000000000000000000");
  EXPECT_EQ(read.info().recording.notes.at("module_build_ids"), "a_b cd00\n");
  EXPECT_EQ(read.info().recording.notes.at("kernel_reference"), "_stext ffffffff81000123");
  EXPECT_TRUE(no_findings(read));
}

TEST(PerfData, OtherEventsAreCountedByName) {
  PerfData data(kMachine);
  PerfAttribute cycles;
  cycles.sample_type = kIp | kTid | kTime | kCpu | kPeriod | kIdentifier;
  cycles.type = 0;
  cycles.ids = {30};
  cycles.period = 4000;
  cycles.flags = {10, 18};  // sampling by frequency, which is usual for events like cycles
  data.attributes.push_back(cycles);
  ByteBuilder names = data.bytes();
  names.u32(1).u32(8).u64(0).u32(1).bytes(data.text("cycles")).u64(30);
  data.features = {{12, names.get()}};
  data.sample({5, 1, {}, 30}, cycles);
  const Read read = read_all(data.file());
  ASSERT_EQ(read.events.size(), 1u);
  EXPECT_EQ(read.events[0].kind, EventKind::other);
  EXPECT_EQ(read.info().tables.event_types[read.events[0].type.value].name, "cycles");
  EXPECT_TRUE(no_findings(read));
}

TEST(PerfData, SampledTracepointsAreReported) {
  for (const bool frequency : {false, true}) {
    PerfData data(kMachine);
    data.attributes[0].period = 100;
    if (frequency) data.attributes[0].flags.push_back(10);
    samples(data, {1});
    EXPECT_EQ(read_all(data.file()).found(Imperfection::sampled_events), 1u);
  }
}

TEST_P(PerfDataOf, WithoutTracepointsNothingIsMissing) {
  PerfData data(GetParam().machine);
  data.with_tracing_data = false;
  PerfAttribute& clock = data.attributes[0];
  clock.type = 1;
  clock.config = 7;
  clock.sample_type = kIp | kTid | kTime | kCpu | kPeriod | kIdentifier;
  data.features = {{3, data.text("host")}};
  data.sample({5, 1, {}}).sample({6, 0, {}}).round();
  const Read read = read_all(bytes(data));
  EXPECT_EQ(read.events.size(), 2u);
  EXPECT_EQ(read.found(Imperfection::missing_section), 0u);
  ASSERT_EQ(read.found(Imperfection::no_memory_events), 1u);
  for (const Finding& finding : read.info().findings.kept()) EXPECT_EQ(finding.detail, "type 1 config 0x7");
}

TEST_P(PerfDataOf, MissingTracingDataIsReportedAtItsPosition) {
  PerfData data(GetParam().machine);
  data.with_tracing_data = false;
  data.features = {{3, data.text("host")}};
  data.sample({5, 1, kmalloc(GetParam().machine)});
  const Read read = read_all(bytes(data));
  ASSERT_EQ(read.found(Imperfection::missing_section), 1u);
  const bool of_pipe =
      read.info().findings.kept().front().detail.ends_with("in a pipe, perf writes it before the events");
  EXPECT_EQ(of_pipe, GetParam().pipe);
}

struct Selection {
  std::vector<std::string> arguments;
  std::vector<unsigned> flags = {18};
  std::optional<std::int64_t> indexed_task;  // task in PERF_RECORD_ID_INDEX; -1: all tasks
  bool some = false;
};

TEST_P(PerfDataOf, RecordingOnlySomeTasksIsReported) {
  const std::vector<Selection> selections = {
      {{"perf", "record", "-a"}, {18}, -1, false},
      {{"perf", "record", "-p", "5"}, {18}, -1, false},  // the index of IDs shows that all tasks were recorded
      {{"perf", "record", "-a"}, {18}, 77, true},
      {{"perf", "record", "ls"}, {12, 18}, std::nullopt, true},
      {{"perf", "record", "ls"}, {12, 18}, 77, true},
      {{"perf", "record", "-a", "sh"}, {18}, std::nullopt, false},
      {{"perf", "record", "-p", "5"}, {18}, std::nullopt, true},
      {{"perf", "record", "-p5"}, {18}, std::nullopt, true},
      {{"perf", "record", "--pid=5"}, {18}, std::nullopt, true},
      {{"perf", "record", "--uid", "0"}, {18}, std::nullopt, true},
      {{"perf", "record", "-ga", "sh", "-p"}, {18}, std::nullopt, false},
      {{"perf", "record", "--all-cpus", "sh", "-p"}, {18}, std::nullopt, false},
      {{"perf", "record", "-F", "99", "--", "mkdir", "-p"}, {18}, std::nullopt, false},
      {{"perf", "record"}, {18}, std::nullopt, false}};
  for (const Selection& selection : selections) {
    PerfData data(GetParam().machine);
    ByteBuilder arguments = data.bytes();
    arguments.u32(static_cast<std::uint32_t>(selection.arguments.size()));
    for (const std::string& argument : selection.arguments) arguments.bytes(data.text(argument));
    data.features = {{3, data.text("host")}, {11, arguments.get()}};
    data.attributes[0].flags = selection.flags;
    if (selection.indexed_task)
      data.record(
          69, 0,
          data.bytes().u64(1).u64(1).u64(0).u64(0).u64(static_cast<std::uint64_t>(*selection.indexed_task)).get());
    data.sample({5, 1, kmalloc(GetParam().machine)});
    const Read read = read_all(bytes(data));
    EXPECT_EQ(read.found(Imperfection::some_tasks), selection.some ? 1u : 0u) << &selection - selections.data();
  }
}

TEST_P(PerfDataOf, RecordingOnlySomeCpusIsReported) {
  struct CpuSelection {
    std::vector<std::uint64_t> indexed_cpus;  // CPU of each ID of the tracepoint
    std::uint32_t online;
    bool some;
  };
  constexpr std::uint64_t kAnyCpu = ~std::uint64_t{0};
  const std::vector<CpuSelection> selections = {{{0}, 2, true},  {{1}, 2, true},    {{0, 1}, 2, false},
                                                {{0}, 1, false}, {{0, 2}, 4, true}, {{kAnyCpu, kAnyCpu}, 2, false},
                                                {{}, 2, false},  {{0, 0}, 2, true}};
  for (const CpuSelection& selection : selections) {
    PerfData data(GetParam().machine);
    data.features = {{3, data.text("host")}, {7, data.bytes().u32(8).u32(selection.online).get()}};
    PerfAttribute of_perf;  // an event that perf adds itself, on all CPUs
    of_perf.type = 1;
    of_perf.ids = {50, 51, 52, 53};
    data.attributes[0].ids.clear();
    data.attributes.push_back(of_perf);
    ByteBuilder index = data.bytes();
    index.u64(selection.indexed_cpus.size() + 4);
    const auto entry = [&index](std::uint64_t id, std::uint64_t cpu) { index.u64(id).u64(0).u64(cpu).u64(~0ull); };
    for (const std::uint64_t cpu : selection.indexed_cpus) {
      data.attributes[0].ids.push_back(data.attributes[0].ids.size() + 1);
      entry(data.attributes[0].ids.back(), cpu);
    }
    for (std::uint64_t cpu = 0; cpu < 4; ++cpu) entry(50 + cpu, cpu);
    data.record(69, 0, index.get());
    const Read read = read_all(bytes(data));
    EXPECT_EQ(read.found(Imperfection::some_cpus), selection.some ? 1u : 0u) << &selection - selections.data();
    EXPECT_EQ(summarize(read.info()).missing_cpus.empty(), !selection.some) << &selection - selections.data();
  }
}

TEST(PerfData, AKilledRecordingIsReadToItsEnd) {
  PerfData data(kMachine);
  data.with_tracing_data = false;
  samples(data, {1, 2}).round();
  Octets file = data.file();
  // Perf writes the size of the data at the end, so it is 0 after a crash.
  store(file.data() + 48, std::uint64_t{0}, kMachine.order);
  const Read read = read_all(file);
  EXPECT_EQ(read.found(Imperfection::truncated_file), 1u);
  EXPECT_EQ(read.found(Imperfection::missing_section), 1u);
  EXPECT_EQ(read.found(Imperfection::unknown_event), 2u);  // the file has no description of these events
}

TEST(PerfData, ATruncatedFileIsReadUpToTheCut) {
  PerfData data(kMachine);
  samples(data, {1, 2, 3}).round();
  const Octets pipe = data.pipe();
  const std::size_t sample_bytes = (data.size() - 8) / 3;
  for (std::size_t cut = 0; cut < data.size(); ++cut) {
    Octets file = pipe;
    file.resize(pipe.size() - cut);
    const Read read = read_all(file);
    const std::size_t left = data.size() - cut;
    EXPECT_EQ(read.events.size(), std::min<std::size_t>(left / sample_bytes, 3)) << cut;
    const bool whole = left % sample_bytes == 0 || cut == 0;
    EXPECT_EQ(read.found(Imperfection::truncated_file), whole ? 0u : 1u) << cut;
  }
}

TEST(PerfData, ReadingContinuesAfterDamage) {
  PerfData data(kMachine);
  Times times;
  for (std::uint64_t time = 1; time <= 20; ++time) times.push_back(time);
  samples(data, times).round();
  const std::size_t sample_bytes = (data.size() - 8) / 20;
  const std::size_t damaged = data.data_offset() + 4 * sample_bytes;
  for (const std::uint16_t size : std::vector<std::uint16_t>{0, 7, 0xFFFF}) {
    Octets file = data.file();
    store(file.data() + damaged + 6, size, kMachine.order);
    const Read read = read_all(file);
    EXPECT_EQ(read.events.size(), 19u) << size;
    ASSERT_EQ(read.found(Imperfection::damaged_record), 1u) << size;
    const auto& kept = read.info().findings.kept();
    const auto finding =
        std::find_if(kept.begin(), kept.end(), [](const Finding& f) { return f.kind == Imperfection::damaged_record; });
    EXPECT_EQ(finding->offset, damaged);
  }
}

TEST(PerfData, ShortSamplesAreReported) {
  PerfData data(kMachine);
  data.attributes[0].sample_type |= kCallchain;
  ByteBuilder sample = data.bytes();
  for (unsigned i = 0; i < 6; ++i) sample.u64(1);
  data.record(9, 1, sample.get());                                             // no chain
  data.record(9, 1, ByteBuilder(sample).u64(~std::uint64_t{0}).get());         // a chain with too many frames
  data.record(9, 1, ByteBuilder(sample).u64(0).u32(0xFFFFFFFF).u32(0).get());  // too much raw data
  data.record(9, 1, ByteBuilder(sample).u64(0).u32(4).u32(kKmallocId).get());  // too little
  const Read read = read_all(data.file());
  EXPECT_TRUE(read.events.empty());
  EXPECT_EQ(read.found(Imperfection::short_record), 4u);
}

// Converts the trace to records, and checks the order in which the functions of the sink are called. Returns the number
// of records.
std::uint64_t converted_records(const Octets& file, Findings& findings) {
  CheckedSink sink;
  read_records(TraceFile{"made by hand", file, nullptr}, {}, sink, findings);
  sink.expect_ended();
  return sink.records;
}

TEST(PerfData, ConvertingReportsTheFindingsOfReading) {
  PerfData data(kMachine);
  PerfAttribute cycles;
  cycles.type = 0;
  cycles.ids = {30};
  data.attributes.push_back(cycles);
  data.attributes[0].sample_type |= kCallchain;
  data.attributes[1].sample_type |= kCallchain;
  const std::vector<std::uint64_t> chain = {kInKernel, 0xabc};
  for (const std::uint64_t time : {10u, 30u}) data.sample({time, 0, kmalloc(kMachine), 1, chain});
  data.round().sample({40, 1, kmalloc(kMachine), 1, chain}).lost(1, 41, 1).round();  // releases events up to 30
  data.sample({20, 0, kmalloc(kMachine), 1, chain}).sample({50, 0, kmalloc(kMachine), 30}, data.attributes[1]);
  data.record(30, 0, Octets(8)).record(9, 1, Octets(8));
  const Octets file = data.file();
  const Read read = read_all(file);
  Findings findings;
  EXPECT_EQ(converted_records(file, findings), 4u + 4u);  // four events, and a stack for each
  EXPECT_EQ(findings.count_of(Imperfection::unwritten_event), 1u);
  for (std::size_t kind = 0; kind < kImperfections.size(); ++kind) {
    const auto each = static_cast<Imperfection>(kind);
    if (each == Imperfection::unwritten_event) continue;
    EXPECT_EQ(findings.count_of(each), read.found(each)) << describe(each).id;
  }
  EXPECT_EQ(findings.count_of(Imperfection::late_event), 1u);
  EXPECT_EQ(findings.count_of(Imperfection::unknown_section), 1u);
  EXPECT_EQ(findings.count_of(Imperfection::unknown_event), 1u);
}

TEST(PerfData, DataThatATraceDatCannotStoreIsDropped) {
  PerfData data(kMachine);
  Octets large = kmalloc(kMachine);
  large.resize(5000);  // a record must fit into a page
  data.sample({1, 0, kmalloc(kMachine)}).sample({2, 0, large}).sample({3, 0, kmalloc(kMachine)});
  const Octets file = data.file();
  const std::string path = testing::TempDir() + "kmemtrace-perfdata." + std::to_string(::getpid()) + ".dat";
  Findings findings;
  tracedat::RecordWriter writer(path, 7, findings);
  kmt::read_records(TraceFile{"made by hand", file, nullptr}, {}, writer, findings);
  writer.finish();
  Read read;
  read.source = open_trace(path, {});
  for (EventBatch batch; read.source->read(batch);) read.events.insert(read.events.end(), batch.begin(), batch.end());
  std::filesystem::remove(path);
  EXPECT_EQ(read.times(), (Times{1, 3}));
  EXPECT_EQ(findings.count_of(Imperfection::left_out), 1u);
}

TEST(PerfData, OtherFilesAreRefused) {
  Octets file = PerfData(kMachine).file();
  EXPECT_NO_THROW(read_all(file));
  store(file.data() + 8, std::uint64_t{105}, kMachine.order);
  EXPECT_THROW(read_all(file), Error);
  EXPECT_THROW(read_all(Octets(file.begin(), file.begin() + 60)), Error);
}

}  // namespace
}  // namespace kmt
