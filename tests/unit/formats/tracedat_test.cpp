// SPDX-License-Identifier: GPL-2.0-or-later
// Tests hand-made trace.dat files. They are read like any trace, so the format is detected too.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "formats/registry.hpp"
#include "support/checked_sink.hpp"
#include "support/trace_dat_builder.hpp"

namespace kmt {
namespace {

using namespace test;

struct Read {
  std::unique_ptr<Source> source;
  std::vector<Event> events;
  const TraceInfo& info() const { return source->info(); }
};

Read read_all(const std::vector<std::uint8_t>& file, const OpenOptions& options = {}) {
  Read read;
  read.source = open_trace(TraceFile{"made by hand", file, nullptr}, options);
  EventBatch batch;
  while (read.source->read(batch)) read.events.insert(read.events.end(), batch.begin(), batch.end());
  return read;
}

Page page_of(Machine machine, std::uint64_t time, const std::vector<Page>& records) {
  PageBuilder page(machine, time);
  for (const Page& record : records) page.record(10, record);
  return page.build();
}

constexpr std::uint64_t kSite = 0x81000010;
constexpr std::uint64_t kPointer = 0x87654320;

TraceDat example(Machine machine) {
  TraceDat dat;
  dat.machine = machine;
  dat.formats = kmem_formats(machine);
  dat.options = {
      {5, std::string("Linux host 6.1.0-test x86_64\0", 29)},
      {4, std::string("local [mono] global\n\0", 21)},
      {2,
       std::string("CPU: 1\nentries: 0\noverrun: 3\ncommit overrun: 1\ndropped events: 2\nread events: 4\nnode: 1\n\0",
                   90)}};
  dat.cpus = {
      {page_of(machine, 100,
               {kmalloc_record(machine, kSite, kPointer, 100, 128, 42, Context::kHardIrq),
                kfree_record(machine, kSite + 1, kPointer)}),
       page_of(machine, 500, {page_alloc_record(machine, 0x1234, 2)})},
      {page_of(machine, 105,
               {cache_free_record(machine, kSite, kPointer + 64, "dentry"), page_free_record(machine, 0x1234, 2)})}};
  return dat;
}

struct Case {
  Machine machine;
  bool version_7;
};
class TraceDatOf : public testing::TestWithParam<Case> {
 protected:
  static std::vector<std::uint8_t> bytes(const TraceDat& dat) {
    return GetParam().version_7 ? dat.version_7() : dat.version_6();
  }
};
INSTANTIATE_TEST_SUITE_P(Machines, TraceDatOf,
                         testing::Values(Case{{ByteOrder::little, 8}, false}, Case{{ByteOrder::little, 4}, false},
                                         Case{{ByteOrder::big, 8}, false}, Case{{ByteOrder::big, 4}, false},
                                         Case{{ByteOrder::little, 8}, true}, Case{{ByteOrder::little, 4}, true},
                                         Case{{ByteOrder::big, 8}, true}, Case{{ByteOrder::big, 4}, true}));

TEST_P(TraceDatOf, EveryFieldArrives) {
  const Machine machine = GetParam().machine;
  const Read read = read_all(bytes(example(machine)));
  ASSERT_EQ(read.events.size(), 5u);

  const Event& kmalloc = read.events[0];
  EXPECT_EQ(kmalloc.kind, EventKind::kmalloc);
  EXPECT_EQ(kmalloc.time_ns, 110u);
  EXPECT_EQ(kmalloc.cpu, 0);
  EXPECT_EQ(kmalloc.tid, 42);
  EXPECT_EQ(kmalloc.context, Context::kHardIrq);
  EXPECT_EQ(kmalloc.address, kPointer);
  EXPECT_EQ(read.info().tables.call_sites.at(kmalloc.call_site.value), kSite);
  EXPECT_EQ(kmalloc.bytes_requested, 100u);
  EXPECT_EQ(kmalloc.bytes_allocated, 128u);
  EXPECT_EQ(kmalloc.gfp_flags, 0xdc0u);
  EXPECT_EQ(kmalloc.node, kNoNode);

  const Event& cache_free = read.events[1];
  EXPECT_EQ(cache_free.kind, EventKind::cache_free);
  EXPECT_EQ(cache_free.cpu, 1);
  EXPECT_EQ(cache_free.time_ns, 115u);
  EXPECT_EQ(read.info().tables.cache_names.at(cache_free.cache.value), "dentry");
  EXPECT_EQ(cache_free.call_site, kmalloc.call_site);

  EXPECT_EQ(read.events[2].kind, EventKind::kfree);
  EXPECT_EQ(read.events[2].time_ns, 120u);
  EXPECT_EQ(read.events[3].kind, EventKind::page_free);
  EXPECT_EQ(read.events[4].kind, EventKind::page_alloc);
  EXPECT_EQ(read.events[4].address, 0x1234u);
  EXPECT_EQ(read.events[4].order, 2);
  EXPECT_EQ(read.info().tables.event_types.at(read.events[4].type.value).name, "mm_page_alloc");

  const TraceInfo& info = read.info();
  EXPECT_EQ(info.machine.byte_order, machine.order);
  EXPECT_EQ(info.machine.word_bits, machine.long_bytes * 8);
  EXPECT_EQ(info.machine.page_size, 4096u);
  EXPECT_EQ(info.machine.cpus, 2u);
  EXPECT_EQ(info.machine.kernel, "6.1.0-test");
  EXPECT_EQ(info.machine.arch, "x86_64");
  EXPECT_EQ(info.clock.name, "mono");
  EXPECT_EQ(info.tasks.comms.at(7), "worker");
  EXPECT_EQ(info.code.kallsyms, example(machine).kallsyms);
  EXPECT_EQ(total_lost_events(info.losses), 6u);
  EXPECT_EQ(info.machine.cpu_nodes, (std::vector<std::int16_t>{kNoNode, 1}));
  EXPECT_EQ(read.source->progress(), 1.0);
}

TEST_P(TraceDatOf, AFailedPageAllocationHasNoPage) {
  const Machine machine = GetParam().machine;
  TraceDat dat = example(machine);
  dat.cpus = {{page_of(machine, 1, {page_alloc_record(machine, ~std::uint64_t{0}, 0)})}};
  const Read read = read_all(bytes(dat));
  ASSERT_EQ(read.events.size(), 1u);
  EXPECT_EQ(read.events[0].address, kNoPage);
}

TEST_P(TraceDatOf, InstancesAreReadAndCanBeSelected) {
  const Machine machine = GetParam().machine;
  TraceDat dat = example(machine);
  dat.instances = {{"foo", {{page_of(machine, 112, {kfree_record(machine, kSite, 0x999)})}, {}}}};
  EXPECT_EQ(read_all(bytes(dat)).events.size(), 6u);
  const Read only = read_all(bytes(dat), {"foo"});
  ASSERT_EQ(only.events.size(), 1u);
  EXPECT_EQ(only.events[0].address, 0x999u);
  EXPECT_EQ(read_all(bytes(dat), {""}).events.size(), 5u);  // selects the top-level buffer
  EXPECT_EQ(read_all(bytes(dat)).info().recording.buffers, (std::vector<std::string>{"", "foo"}));
  EXPECT_THROW(read_all(bytes(dat), {"bar"}), Error);
}

TEST_P(TraceDatOf, ADuplicateCpuOfABufferIsReadOnce) {
  const Machine machine = GetParam().machine;
  TraceDat dat = example(machine);
  dat.instances = {{"foo", {{page_of(machine, 112, {kfree_record(machine, kSite, 0x999)})}, {}}},
                   {"foo", {{page_of(machine, 113, {kfree_record(machine, kSite, 0x998)})}, {}}}};
  const std::vector<std::uint8_t> file = bytes(dat);
  EXPECT_EQ(read_all(file, {"foo"}).events.size(), 1u);
  EXPECT_EQ(read_all(file).info().findings.count_of(Imperfection::damaged_section), 2u);  // a finding for each CPU
  CheckedSink sink;
  Findings findings;
  read_records(TraceFile{"made by hand", file, nullptr}, {}, sink, findings);
  sink.expect_ended();
  EXPECT_EQ(sink.records, 6u);
}

TEST_P(TraceDatOf, UnknownBufferNamesAreDamage) {
  const Machine machine = GetParam().machine;
  TraceDat dat = example(machine);
  const std::vector<std::vector<Page>> cpus = {{page_of(machine, 112, {kfree_record(machine, kSite, 0x999)})}, {}};
  dat.instances = {{std::string(255, 'a'), cpus}};
  EXPECT_EQ(read_all(bytes(dat)).events.size(), 6u);
  dat.instances = {{std::string(256, 'a'), cpus}};
  const Read read = read_all(bytes(dat));
  EXPECT_EQ(read.events.size(), 5u);
  EXPECT_EQ(read.info().findings.count_of(Imperfection::damaged_section), 1u);
}

TEST_P(TraceDatOf, TscTicksAreScaledOnce) {
  const Machine machine = GetParam().machine;
  TraceDat dat = example(machine);
  ByteBuilder scale(machine);
  scale.u32(3u << 10).u32(11).u64(0);  // ns = ticks × 3072 / 2048
  dat.options.emplace_back(14, std::string(scale.get().begin(), scale.get().end()));
  dat.options.emplace_back(7, std::string("-15\0", 4));
  const Read read = read_all(bytes(dat));
  EXPECT_EQ(read.events[0].time_ns, 110u * 3 / 2 - 15);
}

TEST_P(TraceDatOf, TicksOfUnknownLengthAreNotShownAsTime) {
  TraceDat dat = example(GetParam().machine);
  dat.options = {{4, std::string("local [counter] mono\n\0", 22)}};
  const Read read = read_all(bytes(dat));
  EXPECT_FALSE(read.info().clock.in_ns);
  EXPECT_EQ(read.info().findings.count_of(Imperfection::clock_not_nanoseconds), 1u);
  EXPECT_TRUE(read_all(bytes(example(GetParam().machine))).info().clock.in_ns);
}

TEST_P(TraceDatOf, AnEmptyCpuIsNotTruncated) {
  TraceDat dat = example(GetParam().machine);
  dat.cpus = {{}, {}};
  const Read read = read_all(bytes(dat));
  EXPECT_TRUE(read.events.empty());
  EXPECT_EQ(read.info().findings.count_of(Imperfection::truncated_file), 0u);
}

TEST_P(TraceDatOf, ACpuWithoutItsCountedEventsIsMissing) {
  TraceDat dat = example(GetParam().machine);
  dat.cpus[1].clear();  // according to the kernel's statistics, four events of this CPU were read
  EXPECT_EQ(read_all(bytes(dat)).info().findings.count_of(Imperfection::missing_cpu), 1u);
  dat.options.pop_back();
  EXPECT_EQ(read_all(bytes(dat)).info().findings.count_of(Imperfection::missing_cpu), 0u) << "unknown";
}

// Parsing 30,000 copies of a format would take a long time, so each format must be parsed only once.
TEST_P(TraceDatOf, ARepeatedFormatIsParsedOnce) {
  TraceDat dat = example(GetParam().machine);
  const std::string again = dat.formats.front().second;
  for (int i = 0; i < 30'000; ++i) dat.formats.emplace_back("kmem", again);
  const Read read = read_all(bytes(dat));
  EXPECT_EQ(read.events.size(), 5u);
  EXPECT_EQ(read.info().findings.count_of(Imperfection::duplicate_event_id), 30'000u);
}

TEST_P(TraceDatOf, TooManyOptionsAreRefused) {
  TraceDat dat = example(GetParam().machine);
  dat.options.resize(300'000, {2, ""});
  try {
    const Read read = read_all(bytes(dat));
    EXPECT_GT(read.info().findings.count_of(Imperfection::damaged_section), 0u);
    EXPECT_LT(read.info().losses.buffers.size(), 300'000u);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("more options"), std::string::npos) << error.what();
  }
}

TEST_P(TraceDatOf, UnknownAndShortRecordsAreReportedWithTheirPosition) {
  const Machine machine = GetParam().machine;
  TraceDat dat = example(machine);
  ByteBuilder unknown(machine);
  unknown.u16(999).u16(0).u32(7);
  ByteBuilder cut(machine);
  cut.u16(kKmallocId).u16(0).u32(7);
  dat.cpus = {{page_of(machine, 1, {unknown.get(), cut.get(), kfree_record(machine, kSite, 5)})}};
  const std::vector<std::uint8_t> file = bytes(dat);
  const Read read = read_all(file);
  EXPECT_EQ(read.events.size(), 1u);
  EXPECT_EQ(read.info().findings.count_of(Imperfection::unknown_event), 1u);
  EXPECT_EQ(read.info().findings.count_of(Imperfection::short_record), 1u);
  for (const Finding& finding : read.info().findings.kept()) {
    if (finding.kind != Imperfection::unknown_event) continue;
    ASSERT_TRUE(finding.offset);
    EXPECT_EQ(load<std::uint16_t>(file.data() + *finding.offset, machine.order), 999);
    EXPECT_EQ(finding.cpu, 0u);
  }
}

TEST_P(TraceDatOf, LossesHaveACpuAndTimes) {
  const Machine machine = GetParam().machine;
  TraceDat dat = example(machine);
  const Page first = page_of(machine, 100, {kfree_record(machine, kSite, 0x10000)});
  const Page second =
      PageBuilder(machine, 900).record(0, kfree_record(machine, kSite, 0x20000)).missed_events(77).build();
  dat.cpus = {{}, {first, second}};
  const Read read = read_all(bytes(dat));
  ASSERT_EQ(read.info().losses.intervals.size(), 1u);
  EXPECT_EQ(read.info().losses.intervals[0].cpu, 1u);
  EXPECT_EQ(read.info().losses.intervals[0].count, 77u);
  EXPECT_EQ(read.info().losses.intervals[0].before_ns, 110u);
  EXPECT_EQ(read.info().losses.intervals[0].after_ns, 900u);
}

TEST_P(TraceDatOf, DecreasingTimeIsReported) {
  const Machine machine = GetParam().machine;
  TraceDat dat = example(machine);
  dat.cpus = {{page_of(machine, 900, {kfree_record(machine, kSite, 0x10000)}),
               page_of(machine, 100, {kfree_record(machine, kSite, 0x20000)})}};
  const Read read = read_all(bytes(dat));
  EXPECT_EQ(read.events.size(), 2u);
  EXPECT_EQ(read.info().findings.count_of(Imperfection::time_goes_backward), 1u);
}

// A file may be cut off at any point. It must be refused with the offset, or some of its events must be read, with a
// finding that the file is truncated.
TEST_P(TraceDatOf, EveryTruncationIsReported) {
  const TraceDat dat = example(GetParam().machine);
  const std::vector<std::uint8_t> file = bytes(dat);
  const std::vector<Event> whole = read_all(file).events;
  std::size_t partial = 0;
  for (std::size_t size = 0; size < file.size(); size += size < 4096 ? 7 : 61) {
    const std::vector<std::uint8_t> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    try {
      const Read read = read_all(cut);
      ASSERT_LE(read.events.size(), whole.size());
      bool said = false;
      for (std::size_t kind = 0; kind < kImperfections.size(); ++kind)
        said |= kImperfections[kind].severity == Severity::error &&
                read.info().findings.count_of(static_cast<Imperfection>(kind)) > 0;
      EXPECT_TRUE(said) << size;
      partial += read.events.empty() ? 0 : 1;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()), "");
    }
  }
  EXPECT_GT(partial, 0u) << "no truncated file had readable events";
}

TEST(TraceDat, OtherFilesAreRefusedWithAHint) {
  for (const char* text : {"", "P", "PERFILE2", "\x17\x08\x44tracing5"}) {
    const std::string bytes = text;
    try {
      read_all({bytes.begin(), bytes.end()});
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::bad_input);
      EXPECT_EQ(error.place().file, "made by hand");
    }
  }
}

}  // namespace
}  // namespace kmt
