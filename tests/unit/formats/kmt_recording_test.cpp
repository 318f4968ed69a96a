// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the conversion of ring-buffer pages to .kmt files during a recording, without a kernel. tests/live tests real
// recordings.
#include "formats/kmt/recording.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "formats/kmt/file.hpp"
#include "formats/registry.hpp"
#include "support/trace_dat_builder.hpp"

namespace kmt {
namespace {

using namespace test;
using namespace kmt_format;

constexpr std::uint64_t kSite = 0x81000010;
constexpr std::uint64_t kPointer = 0x87654000;
constexpr Machine kMachine{kHostOrder, 8};

class KmtRecording : public testing::Test {
 protected:
  KmtRecording() : folder_(std::filesystem::temp_directory_path() / ("kmt_recording." + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~KmtRecording() override { std::filesystem::remove_all(folder_); }

  std::string path(const char* name = "x.kmt") const { return folder_ / name; }
  std::vector<std::string> files() const { return names_in(folder_); }

 private:
  std::filesystem::path folder_;
};

KernelDescription kernel() {
  KernelDescription kernel;
  kernel.system_name = "Linux";
  kernel.node_name = "host";
  kernel.release = "6.1.0";
  kernel.machine = "x86_64";
  kernel.cpus = 2;
  kernel.cpu_nodes = {0, 1};
  kernel.header_page =
      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
      "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
      "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
  for (const auto& [system, text] : kmem_formats(kMachine)) kernel.formats.push_back({system, text});
  kernel.kallsyms = std::string("ffffffff81000000 T first_function\n");
  kernel.clock = "mono";
  kernel.notes = {{"recorder", "a test"}};
  return kernel;
}

// Returns a page of kmallocs from `time` on, one per nanosecond.
Page page_of(std::uint64_t time, unsigned events) {
  PageBuilder page(kMachine, time);
  for (unsigned i = 0; i < events; ++i)
    page.record(1, kmalloc_record(kMachine, kSite, kPointer + 64 * (time + i), 100, 128));
  return page.build();
}

struct Trace {
  TraceInfo info;
  EventBatch events;
};

Trace read(const std::string& path) {
  const auto source = open_trace(path);
  Trace trace;
  for (EventBatch batch; source->read(batch);) trace.events.insert(trace.events.end(), batch.begin(), batch.end());
  trace.info = source->info();
  return trace;
}

TraceDescription end_of(const char* statistics) {
  TraceDescription end;
  end.kernel.saved_cmdlines = "7 worker\n";
  end.cpu_stats = {std::string("CPU: 0\n") + statistics, std::string("CPU: 1\n") + statistics};
  return end;
}

TEST_F(KmtRecording, PagesOfAllCpusBecomeOneCompleteFile) {
  Recording recording(path(), kernel(), {0, 1}, {}, {});
  recording.add({50, 1'700'000'000'000'000'000, {{"meminfo", "Slab: 12 kB\n"}}});
  recording.encoder().pages(0, page_of(100, 20));
  recording.encoder().pages(1, page_of(110, 20));
  recording.encoder().pages(
      0,
      PageBuilder(kMachine, 200).record(1, kmalloc_record(kMachine, kSite, kPointer, 8, 8)).missed_events(5).build());
  recording.add({300, 1'700'000'000'000'000'250, {{"meminfo", "Slab: 16 kB\n"}}});
  EXPECT_EQ(recording.finish(end_of("overrun: 5\nread events: 21\n")), path());

  const Trace trace = read(path());
  EXPECT_EQ(trace.events.size(), 41u);
  EXPECT_EQ(trace.events.front().time_ns, 101u);
  EXPECT_EQ(trace.events.back().time_ns, 201u);
  EXPECT_EQ(trace.info.machine.kernel, "6.1.0");
  EXPECT_EQ(trace.info.machine.cpu_nodes, (std::vector<std::int16_t>{0, 1}));
  EXPECT_EQ(trace.info.tasks.comms.at(7), "worker");
  EXPECT_EQ(trace.info.code.kallsyms, "ffffffff81000000 T first_function\n");
  EXPECT_EQ(trace.info.recording.notes.at("recorder"), "a test");
  ASSERT_EQ(trace.info.recording.samples.size(), 2u);
  EXPECT_EQ(trace.info.recording.samples[1].ticks, 300u);
  EXPECT_EQ(trace.info.recording.samples[1].unix_ns, 1'700'000'000'000'000'250u);
  EXPECT_EQ(trace.info.recording.samples[1].texts.front().second, "Slab: 16 kB\n");
  ASSERT_EQ(trace.info.losses.intervals.size(), 1u);
  EXPECT_EQ(trace.info.losses.intervals[0].count, 5u);
  EXPECT_EQ(trace.info.losses.buffers[0].overrun, 5u);
  EXPECT_TRUE(trace.info.findings.count_of(Imperfection::truncated_file) == 0);
}

TEST_F(KmtRecording, LossesOfBpfRingsHaveASeparateMessage) {
  Recording recording(path(), kernel(), {0, 1}, {}, {});
  recording.encoder().pages(0, page_of(100, 20));
  recording.finish(end_of("entries: 0\noverrun: 0\ndropped events: 0\nfull rings: 5\nread events: 20\n"));

  const Trace trace = read(path());
  EXPECT_EQ(lost_events_per_cpu(trace.info.losses, trace.info.machine.cpus), (std::vector<std::uint64_t>{5, 5}));
  std::vector<std::string> details;
  for (const Finding& finding : trace.info.findings.kept())
    if (finding.kind == Imperfection::lost_events) details.push_back(finding.detail);
  EXPECT_EQ(details, std::vector<std::string>(2, "the rings of BPF programs had no room for 5"));
}

TEST_F(KmtRecording, ACpuWhoseEventsTheKernelDiscardedIsMissing) {
  Recording recording(path(), kernel(), {0, 1}, {}, {});
  recording.encoder().pages(1, page_of(100, 20));
  TraceDescription end = end_of("entries: 20\noverrun: 0\nread events: 0\n");
  end.cpu_stats[0] = "CPU: 0\nentries: 0\nread events: 0\ncleared at boot: 1\n";
  recording.finish(end);

  const Trace trace = read(path());
  ASSERT_EQ(trace.info.findings.count_of(Imperfection::missing_cpu), 1u);
  for (const Finding& finding : trace.info.findings.kept())
    if (finding.kind == Imperfection::missing_cpu) EXPECT_EQ(finding.cpu, 0u);
}

TEST_F(KmtRecording, AnOlderFileStaysUntilTheFirstBlock) {
  std::ofstream(path()) << "precious";
  {
    Recording given_up(path(), kernel(), {0}, {}, {});
    given_up.encoder().pages(0, page_of(100, 20));
  }
  EXPECT_EQ(read_file(path()), "precious");
  Recording recording(path(), kernel(), {0}, {}, {});
  recording.finish(end_of(""));
  EXPECT_TRUE(read(path()).events.empty());
}

TEST_F(KmtRecording, FullBlocksAreInTheFileBeforeItIsFinished) {
  Recording recording(path(), kernel(), {0, 1}, {}, {});
  const unsigned events = 50;
  std::uint64_t time = 0;
  // The pages are made before the test writes them, because a recording also writes events when a second has passed.
  std::vector<Page> pages;
  for (std::uint64_t given = 0; given < kForRecording.events; given += events, time += 1000)
    pages.push_back(page_of(time, events));
  const auto begin = std::chrono::steady_clock::now();
  for (const Page& page : pages) recording.encoder().pages(0, page);
  if (std::chrono::steady_clock::now() - begin >= std::chrono::seconds(1)) GTEST_SKIP() << "a block became too old";
  recording.encoder().pages(1, page_of(5, 3));
  EXPECT_EQ(read(path()).events.size(), kForRecording.events / events * events + events)
      << "only part of the first block";
}

TEST_F(KmtRecording, BlocksThatCannotBeWrittenAreWrittenLater) {
  struct Refusing : BlockStore {
    void add(PackedBlock block) override {
      blocks.push_back(std::move(block));
      throw Error("No space left");
    }
    std::vector<PackedBlock> blocks;
  } store;
  LiveEncoder encoder(kernel(), {0}, store);
  std::vector<std::uint8_t> pages;
  std::uint64_t given = 0;
  for (; given < 3 * kForRecording.events + 1000; given += 50) {
    const Page page = page_of(given, 50);
    pages.insert(pages.end(), page.begin(), page.end());
  }
  EXPECT_THROW(encoder.pages(0, pages), Error);
  EXPECT_THROW(encoder.finish(), Error);
  std::uint64_t events = 0;
  for (const PackedBlock& block : store.blocks) events += block.events;
  EXPECT_EQ(events, given) << "events are encoded even if the store fails";
}

TEST_F(KmtRecording, ARotationStartsNewFilesAndRemovesOldOnes) {
  std::ofstream(numbered_path(path(), 7)) << "a file of an earlier run";
  Recording recording(path(), kernel(), {0}, Rotation{{}, 1.0, 2}, {});
  const auto now = [] { return end_of(""); };
  for (unsigned second = 0; second < 4; ++second) {
    recording.encoder().pages(0, page_of(1000 * second, 10));
    EXPECT_EQ(recording.turn(1.2 * second + 0.5, now), std::nullopt);
    EXPECT_EQ(recording.turn(1.2 * second + 1.0, now), std::nullopt) << "the blocks come first";
    recording.encoder().pages(0, {});
    const auto completed = recording.turn(1.2 * second + 1.2, now);
    ASSERT_EQ(completed, numbered_path(path(), second + 8));
    const Trace part = read(*completed);
    EXPECT_EQ(part.events.size(), 10u);
    EXPECT_EQ(part.events.back().time_ns, 1000 * second + 10);
  }
  recording.encoder().pages(0, page_of(9000, 10));
  EXPECT_EQ(recording.finish(end_of("")), numbered_path(path(), 12));
  EXPECT_EQ(files(), (std::vector<std::string>{"x.0007.kmt", "x.0011.kmt", "x.0012.kmt"}));
  EXPECT_EQ(recording.files_removed(), 3u);
  const Trace last = read(numbered_path(path(), 12));
  EXPECT_EQ(last.info.tasks.comms.at(7), "worker");
  EXPECT_EQ(last.info.machine.kernel, "6.1.0");
  EXPECT_EQ(last.events.back().time_ns, 9010u);
  EXPECT_GT(recording.bytes(), 2 * std::filesystem::file_size(numbered_path(path(), 12)));
}

TEST_F(KmtRecording, ADamagedPageIsALossInTheTrace) {
  Recording recording(path(), kernel(), {0}, {}, {});
  Page page = page_of(100, 3);
  store<std::uint64_t>(page.data() + 8, 5000, kHostOrder);
  recording.encoder().pages(0, page);
  recording.finish(end_of(""));
  EXPECT_EQ(recording.encoder().damaged_pages(), 1u);
  const Trace trace = read(path());
  ASSERT_EQ(trace.info.losses.intervals.size(), 1u);
  EXPECT_EQ(trace.info.losses.intervals[0].count, std::nullopt);
}

TEST_F(KmtRecording, AFlightRecorderWritesTheLatestBlocksIfTheDiskIsFull) {
  FlightStore store({}, {}, 64 << 20, {});
  LiveEncoder encoder(kernel(), {0}, store);
  for (std::uint64_t time = 0; time < 64; ++time) {
    encoder.pages(0, page_of(1000 * time, 50));
    encoder.ask_for_blocks();
    encoder.pages(0, {});
  }
  const std::uint64_t size = store.bytes();
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{size / 3, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const FlightStore::Written written = store.write(path(), end_of(""));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_GT(written.events, 0u);
  EXPECT_EQ(written.events + written.omitted, 64u * 50);
  EXPECT_LE(std::filesystem::file_size(path()), size / 3);
}

TEST_F(KmtRecording, AFlightRecorderKeepsTheNewestBlockEvenIfItIsTooLarge) {
  FlightStore store({}, {}, 1, {});
  LiveEncoder encoder(kernel(), {0}, store);
  for (std::uint64_t time = 0; time < 3; ++time) {
    encoder.pages(0, page_of(1000 * time, 50));
    encoder.ask_for_blocks();
    encoder.pages(0, {});
  }
  EXPECT_EQ(store.write(path(), end_of("")).events, 50u);
}

TEST_F(KmtRecording, MemoryOfProgramsIsKeptWhileTheDiskIsFull) {
  FileStore store({}, {});
  store.next_file(path(), {});
  UserMemory memory;
  memory.objects = {{"/bin/true", {}, {}}};
  memory.changes = {{.time_ns = 1, .process = 7, .kind = SpaceChange::Kind::mapped, .start = 4096, .size = 4096}};
  store.add(memory);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{kFileHeaderBytes + 4, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_THROW(store.add(PackedBlock{}), Error);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  store.finish({});
  Findings findings;
  const MappedFile file(path());
  EXPECT_EQ(parse_file(file.bytes(), findings).description.kernel.user_memory.changes.size(), 1u);
}

TEST_F(KmtRecording, CompressedBlocksUseOnlyTheirSizeInMemory) {
  const std::vector<std::uint8_t> plain(1 << 20, 7);
  const PackedChunk chunk = pack(kState, 0, plain);
  EXPECT_LT(chunk.bytes.capacity(), chunk.bytes.size() + 4096);
}

TEST_F(KmtRecording, AFlightRecorderKeepsTheLatestByTime) {
  Recording recording(path(), kernel(), {0}, {}, Flight{1 << 20, 2000});
  for (std::uint64_t time = 0; time < 10; ++time) {
    recording.encoder().pages(0, page_of(1000 * time, 10));
    recording.encoder().ask_for_blocks();
    recording.encoder().pages(0, {});
  }
  EXPECT_EQ(files(), std::vector<std::string>{});
  recording.finish(end_of(""));
  const Trace trace = read(path());
  EXPECT_EQ(trace.events.back().time_ns, 9010u);
  EXPECT_EQ(trace.events.front().time_ns, 7001u);
  EXPECT_EQ(recording.last_file().events, trace.events.size());
}

TEST_F(KmtRecording, AFlightRecorderKeepsTheLatestBySize) {
  const std::uint64_t most = 4096;
  Recording recording(path(), kernel(), {0}, {}, Flight{most, {}});
  for (std::uint64_t time = 0; time < 200; ++time) {
    recording.encoder().pages(0, page_of(1000 * time, 50));
    recording.encoder().ask_for_blocks();
    recording.encoder().pages(0, {});
    EXPECT_LE(recording.bytes(), most);
  }
  recording.finish(end_of(""));
  const Trace trace = read(path());
  EXPECT_EQ(trace.events.back().time_ns, 199050u);
  EXPECT_GT(trace.events.size(), 100u);
  EXPECT_LT(trace.events.size(), 5000u);
}

TEST_F(KmtRecording, AFlightRecorderIsAskedForAFile) {
  Recording recording(path(), kernel(), {0}, {}, Flight{1 << 20, {}});
  const auto now = [] { return end_of(""); };
  recording.encoder().pages(0, page_of(100, 10));
  EXPECT_EQ(recording.turn(1, now), std::nullopt);
  recording.ask_for_file();
  EXPECT_EQ(recording.turn(2, now), std::nullopt) << "the blocks come first";
  recording.encoder().pages(0, {});
  EXPECT_EQ(recording.turn(3, now), numbered_path(path(), 1));
  EXPECT_EQ(read(numbered_path(path(), 1)).events.size(), 10u);
  EXPECT_EQ(recording.turn(4, now), std::nullopt);
}

TEST_F(KmtRecording, FailedAllocationsAreNoticedImmediately) {
  FlightStore store({}, {}, 1 << 20, {});
  LiveEncoder encoder(kernel(), {0}, store);
  encoder.pages(0, PageBuilder(kMachine, 1).record(1, kfree_record(kMachine, kSite, 0)).build());
  encoder.pages(0, page_of(10, 5));
  EXPECT_FALSE(encoder.saw_failed_allocation()) << "a free of NULL is no event";
  encoder.pages(0, PageBuilder(kMachine, 20).record(1, kmalloc_record(kMachine, kSite, 0, 100, 128)).build());
  EXPECT_TRUE(encoder.saw_failed_allocation());

  LiveEncoder pages(kernel(), {0}, store);
  pages.pages(0, PageBuilder(kMachine, 20).record(1, page_alloc_record(kMachine, ~std::uint64_t{0}, 3)).build());
  EXPECT_TRUE(pages.saw_failed_allocation());
}

TEST_F(KmtRecording, EqualStacksInABlockShareAShape) {
  KernelDescription with_stacks = kernel();
  with_stacks.formats.push_back(
      {"ftrace",
       "name: kernel_stack\nID: 4\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
       "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
       "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
       "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
       "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
       "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n\nprint fmt: \"\"\n"});
  const auto stack = [](unsigned depth) {
    ByteBuilder record(kMachine);
    record.u16(4).u8(0).u8(0).u32(7).u32(depth).u32(0xEEEEEEEE);
    for (unsigned i = 0; i < depth; ++i) record.u64(0xFFFFFFFF81000000 + i);
    return record.get();
  };
  Recording recording(path(), with_stacks, {0}, {}, {});
  for (std::uint64_t time = 0; time < 1000; ++time)
    recording.encoder().pages(0, PageBuilder(kMachine, 100 * time)
                                     .record(1, kmalloc_record(kMachine, kSite, kPointer + time * 64, 8, 8))
                                     .long_record(0, stack(time % 2 == 0 ? 3 : 23))
                                     .build());
  recording.finish(end_of(""));
  const std::string file = read_file(path());
  EXPECT_LT(file.size(), 12000u) << "2000 records, of which 500 are of 200 bytes";
  std::size_t stacks = 0;
  const Trace trace = read(path());
  for (const Event& event : trace.events)
    stacks += trace.info.tables.event_types[event.type.value].name == "kernel_stack";
  EXPECT_EQ(stacks, 1000u);
}

TEST_F(KmtRecording, NumbersPrecedeTheExtension) {
  EXPECT_EQ(numbered_path("trace.kmt", 1), "trace.0001.kmt");
  EXPECT_EQ(numbered_path("/a.b/c", 12), "/a.b/c.0012");
  EXPECT_EQ(numbered_path("x.y.kmt", 12345), "x.y.12345.kmt");
}

}  // namespace
}  // namespace kmt
