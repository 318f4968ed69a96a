// SPDX-License-Identifier: GPL-2.0-or-later
// Tests kernel stacks in hand-made ring buffer pages: to which event each stack belongs, and which frames it has.
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.hpp"
#include "formats/kmt/records.hpp"
#include "formats/registry.hpp"
#include "support/trace_dat_builder.hpp"

namespace kmt {
namespace {

using namespace test;

constexpr std::uint16_t kStackId = 4;
constexpr std::uint8_t kTask = 0, kHardIrq = Context::kHardIrq, kSoftIrq = Context::kSoftIrq;
constexpr std::uint64_t kSite = 0x81000010;

enum class Format {
  fixed_array,  // Linux 2.6.31: eight addresses; -1 marks the end
  counted,      // Linux 3.1: `size` is the number of addresses, and the rest of the record is unused
};

std::string stack_format(Machine machine, Format format) {
  const unsigned word = machine.long_bytes;
  const std::string head =
      "name: kernel_stack\nID: 4\nformat:\n"
      "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
      "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
      "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
  const std::string tail = "\nprint fmt: \"\\t=> (\" \"%lx\" \")\\n\", REC->caller[0]\n";
  if (format == Format::fixed_array)
    return head + fmt::format("\tfield:unsigned long caller[8];\toffset:8;\tsize:{};\tsigned:0;\n", 8 * word) + tail;
  return head +
         fmt::format(
             "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
             "\tfield:unsigned long caller[8];\toffset:{};\tsize:{};\tsigned:0;\n",
             8 + word, 8 * word) +
         tail;
}

Page stack_record(Machine machine, Format format, const std::vector<std::uint64_t>& callers, std::uint8_t flags = kTask,
                  std::int32_t pid = 7) {
  ByteBuilder record(machine);
  record.u16(kStackId).u8(flags).u8(0).u32(static_cast<std::uint32_t>(pid));
  if (format == Format::counted) record.u32(static_cast<std::uint32_t>(callers.size())).pad_to(8 + machine.long_bytes);
  for (const std::uint64_t caller : callers) record.word(caller);
  if (format == Format::fixed_array)
    for (std::size_t i = callers.size(); i < 8; ++i) record.word(~std::uint64_t{0});
  return record.get();
}

Page event(Machine machine, std::uint64_t n, std::uint8_t flags = kTask, std::int32_t pid = 7) {
  return kmalloc_record(machine, kSite, 0x1000 * n, 10, 16, pid, flags);
}

struct WithStack {
  std::uint64_t n = 0;  // identifies the event in the test
  std::vector<std::uint64_t> stack;
  bool operator==(const WithStack&) const = default;
};

void PrintTo(const WithStack& event, std::ostream* out) {
  *out << event.n << ":";
  for (const std::uint64_t address : event.stack) *out << ' ' << std::hex << address << std::dec;
}

struct Read {
  std::vector<WithStack> events;
  std::size_t stacks = 0;   // number of different stacks
  std::size_t records = 0;  // number of kernel_stack events
  std::uint64_t unmatched = 0;
  bool operator==(const Read&) const = default;
};

Read read_all(const std::vector<std::uint8_t>& file) {
  Read read;
  const auto source = open_trace(TraceFile{"made by hand", file, nullptr});
  const TraceInfo& info = source->info();
  for (EventBatch batch; source->read(batch);) {
    for (const Event& event : batch) {
      const auto stack = info.tables.stacks[event.stack];
      if (event.kind == EventKind::kmalloc)
        read.events.push_back({event.address / 0x1000, {stack.begin(), stack.end()}});
      read.records += info.tables.event_types[event.type.value].name == "kernel_stack" ? 1 : 0;
    }
  }
  read.stacks = info.tables.stacks.kernel_stacks();
  read.unmatched = info.findings.count_of(Imperfection::unmatched_stack);
  return read;
}

struct Case {
  Machine machine;
  Format format;
};

class Stacks : public testing::TestWithParam<Case> {
 protected:
  Machine machine() const { return GetParam().machine; }
  Page stack(const std::vector<std::uint64_t>& callers, std::uint8_t flags = kTask, std::int32_t pid = 7) const {
    return stack_record(machine(), GetParam().format, callers, flags, pid);
  }
  Page kmalloc(std::uint64_t n, std::uint8_t flags = kTask, std::int32_t pid = 7) const {
    return event(machine(), n, flags, pid);
  }
  // Reads one CPU's pages from a trace.dat, and from a .kmt made from the trace.dat. Both must give the same result.
  Read read(const std::vector<std::vector<Page>>& pages, std::size_t lost_before_page = ~std::size_t{0}) const {
    TraceDat dat;
    dat.machine = machine();
    dat.formats = kmem_formats(machine());
    dat.formats.emplace_back("ftrace", stack_format(machine(), GetParam().format));
    dat.cpus.emplace_back();
    std::uint64_t time = 100;
    for (const std::vector<Page>& records : pages) {
      PageBuilder page(machine(), time += 1'000'000);
      if (dat.cpus[0].size() == lost_before_page) page.missed_events(3);
      for (const Page& record : records) page.long_record(10, record);
      dat.cpus[0].push_back(page.build());
    }
    const Read from_dat = read_all(dat.version_7());
    EXPECT_EQ(from_dat, read_all(to_kmt(dat.version_7())));
    return from_dat;
  }

 private:
  static std::vector<std::uint8_t> to_kmt(const std::vector<std::uint8_t>& dat) {
    const std::string path =
        std::filesystem::temp_directory_path() / ("stacks_test." + std::to_string(::getpid()) + ".kmt");
    Findings findings;
    kmt_format::RecordWriter writer(path, findings);
    kmt::read_records(TraceFile{"made by hand", dat, nullptr}, {}, writer, findings);
    writer.finish();
    const std::string text = read_file(path);
    std::filesystem::remove(path);
    return {text.begin(), text.end()};
  }
};

constexpr Machine kMachines[] = {
    {ByteOrder::little, 8}, {ByteOrder::little, 4}, {ByteOrder::big, 8}, {ByteOrder::big, 4}};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Machine machine : kMachines)
    for (const Format format : {Format::fixed_array, Format::counted}) all.push_back({machine, format});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Machines, Stacks, testing::ValuesIn(cases()));

TEST_P(Stacks, BelongToThePrecedingEvent) {
  const Read got = read({{kmalloc(1), stack({0x10, 0x20, 0x30}), kmalloc(2), stack({0x11, 0x20})}});
  EXPECT_EQ(got.events, (std::vector<WithStack>{{1, {0x10, 0x20, 0x30}}, {2, {0x11, 0x20}}}));
  EXPECT_EQ(got.stacks, 2u);
  EXPECT_EQ(got.records, 2u);
  EXPECT_EQ(got.unmatched, 0u);
}

TEST_P(Stacks, EqualStacksAreStoredOnce) {
  const Read got = read({{kmalloc(1), stack({0x10, 0x20}), kmalloc(2), stack({0x10, 0x20})},
                         {kmalloc(3), stack({0x10}), kmalloc(4), stack({0x10, 0x20})}});
  EXPECT_EQ(got.stacks, 2u);
  EXPECT_EQ(got.events[0].stack, got.events[3].stack);
}

TEST_P(Stacks, InterruptsNestWithTheirStacks) {
  const Read got =
      read({{kmalloc(1), kmalloc(2, kSoftIrq), kmalloc(3, kHardIrq | kSoftIrq), stack({3, 30}, kHardIrq | kSoftIrq),
             stack({2, 20}, kSoftIrq), kmalloc(4, kSoftIrq), stack({4, 40}, kSoftIrq), stack({1, 10})}});
  EXPECT_EQ(got.events, (std::vector<WithStack>{{1, {1, 10}}, {2, {2, 20}}, {3, {3, 30}}, {4, {4, 40}}}));
  EXPECT_EQ(got.unmatched, 0u);
}

TEST_P(Stacks, AnEventDuringTheUnwindingNests) {
  const Read got = read({{kmalloc(1), kmalloc(2), stack({2}), stack({1})}});
  EXPECT_EQ(got.events, (std::vector<WithStack>{{1, {1}}, {2, {2}}}));
}

TEST_P(Stacks, CrossPages) {
  EXPECT_EQ(read({{kmalloc(1)}, {stack({1})}}).events, (std::vector<WithStack>{{1, {1}}}));
  const Read nested = read({{kmalloc(1)}, {kmalloc(2, kHardIrq)}, {stack({2}, kHardIrq)}, {stack({1}), kmalloc(3)}});
  EXPECT_EQ(nested.events, (std::vector<WithStack>{{1, {1}}, {2, {2}}, {3, {}}}));
  EXPECT_EQ(nested.unmatched, 0u);

  // Between an event and its stack, an interrupt has written whole pages of events.
  std::vector<Page> interrupt;
  for (std::uint64_t n = 0; n < 25; ++n) {
    interrupt.push_back(kmalloc(100 + n, kHardIrq));
    interrupt.push_back(stack({100 + n}, kHardIrq));
  }
  const Read stormy = read({{kmalloc(1)}, interrupt, interrupt, {stack({1})}});
  EXPECT_EQ(stormy.events[0], (WithStack{1, {1}}));
  EXPECT_EQ(stormy.events[30], (WithStack{104, {104}}));
  EXPECT_EQ(stormy.unmatched, 0u);
}

TEST_P(Stacks, DoNotBelongToAnEventBeforeALoss) {
  const Read got = read({{kmalloc(1)}, {stack({9}), kmalloc(2), stack({2})}}, 1);
  EXPECT_EQ(got.events, (std::vector<WithStack>{{1, {}}, {2, {2}}}));
  EXPECT_EQ(got.unmatched, 1u);
  // After a loss, stacks must not be assigned to earlier events, even if stacks before the loss were assigned.
  const Read later = read({{kmalloc(1), stack({1}), kmalloc(2)}, {stack({9}), kmalloc(3), stack({3})}}, 1);
  EXPECT_EQ(later.events, (std::vector<WithStack>{{1, {1}}, {2, {}}, {3, {3}}}));
  EXPECT_EQ(later.unmatched, 1u);
}

TEST_P(Stacks, DoNotBelongToAnotherTaskOrContext) {
  const Read got = read({{kmalloc(1), stack({9}, kTask, 8), kmalloc(2), stack({9}, kSoftIrq), kmalloc(3), stack({3}),
                          kmalloc(4, kTask, 8), stack({9})}});
  EXPECT_EQ(got.events, (std::vector<WithStack>{{1, {}}, {2, {}}, {3, {3}}, {4, {}}}));
  EXPECT_EQ(got.records, 4u);
  EXPECT_EQ(got.unmatched, 3u);
}

TEST_P(Stacks, EachCpuHasSeparateStacks) {
  TraceDat dat;
  dat.machine = machine();
  dat.formats = kmem_formats(machine());
  dat.formats.emplace_back("ftrace", stack_format(machine(), GetParam().format));
  for (const std::uint64_t cpu : {1u, 2u}) {
    PageBuilder page(machine(), 100 + cpu);
    page.long_record(10, kmalloc(cpu)).long_record(10, stack({cpu * 16}));
    dat.cpus.push_back({page.build()});
  }
  EXPECT_EQ(read_all(dat.version_6()).events, (std::vector<WithStack>{{1, {16}}, {2, {32}}}));
}

TEST_P(Stacks, HostileStacks) {
  const Machine m = machine();
  // Three damaged records: one lacks addresses that `size` claims, one ends within an address, and one has more frames
  // than any real stack.
  Page claims = ByteBuilder(m).u16(kStackId).u8(0).u8(0).u32(7).u32(0xFFFFFFFF).pad_to(8 + m.long_bytes).get();
  if (GetParam().format == Format::fixed_array) claims = stack({});
  const std::vector<std::uint64_t> deep(400, 0x42);
  const Read got =
      read({{kmalloc(1), claims, kmalloc(2), stack(deep)}, {kmalloc(3), stack({}), kmalloc(4), stack({4})}});
  EXPECT_EQ(got.events[0].stack.size(), 0u);
  EXPECT_EQ(got.events[1].stack.size(), GetParam().format == Format::counted ? 256u : 8u);
  EXPECT_EQ(got.events[2].stack.size(), 0u);
  EXPECT_EQ(got.events[3], (WithStack{4, {4}}));
}

TEST_P(Stacks, ManyEventsWithoutStacksStayInOrder) {
  std::vector<std::vector<Page>> pages(40);
  std::uint64_t n = 0;
  for (std::vector<Page>& page : pages)
    for (int i = 0; i < 30; ++i, ++n) page.push_back(kmalloc(n + 1, n % 7 == 0 ? kHardIrq : kTask));
  pages.back().push_back(stack({5}));
  const Read got = read(pages);
  ASSERT_EQ(got.events.size(), n);
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(got.events[i].n, i + 1);
  EXPECT_EQ(got.events.back().stack, std::vector<std::uint64_t>{5});
}

}  // namespace
}  // namespace kmt
