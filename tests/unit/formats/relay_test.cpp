// SPDX-License-Identifier: GPL-2.0-or-later
// Tests relay files of 2008. For every layout and byte order, the layout must be detected, data must be read as it was
// written, and damage must affect only the damaged data.
#include <algorithm>
#include <filesystem>
#include <random>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "formats/ctf/records.hpp"
#include "formats/kmt/records.hpp"
#include "formats/records_of_events.hpp"
#include "formats/registry.hpp"
#include "formats/relay/capture.hpp"
#include "formats/relay/guess.hpp"
#include "formats/relay/walker.hpp"
#include "formats/tracedat/records.hpp"
#include "support/byte_builder.hpp"
#include "support/checked_sink.hpp"

namespace kmt {
namespace {

using namespace relay;
using test::ByteBuilder;

namespace fs = std::filesystem;

using File = std::vector<std::uint8_t>;

// Makes a folder, which is removed after the test.
class RelayFolder : public testing::Test {
 protected:
  RelayFolder() : path_(fs::temp_directory_path() / ("kmemtrace-relay-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directory(path_);
  }
  ~RelayFolder() override { fs::remove_all(path_); }

  std::string path(const std::string& name) const { return path_ / name; }
  void put(const std::string& name, const File& bytes) const {
    put(name, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  void put(const std::string& name, std::string_view text) const {
    const FileDescriptor file = open_file(path(name), O_WRONLY | O_CREAT | O_TRUNC);
    write_all(file.get(), text, path(name));
  }

  fs::path path_;
};

struct ReadTrace {
  std::vector<Event> events;
  TraceInfo info;
};

ReadTrace read_all(std::unique_ptr<Source> source) {
  ReadTrace trace;
  for (EventBatch batch; source->read(batch);) trace.events.insert(trace.events.end(), batch.begin(), batch.end());
  trace.info = source->info();
  return trace;
}

ReadTrace read_bytes(const File& file, const std::string& abi = "") {
  OpenOptions options;
  options.abi = abi;
  return read_all(open_trace(TraceFile{"a file", file, nullptr}, options));
}

Abi abi_of(const char* name) { return parse_abi(name); }

// Returns random records that a kernel might write, in the order of one CPU's file. Fields that the layout lacks have
// the values that the reader returns for them.
std::vector<Record> records_of(const Abi& abi, std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  const Layout& layout = *abi.layout;
  const std::uint64_t word = layout.call_site.bytes == 4 ? 0xFFFFFFFF : ~std::uint64_t{0};
  const auto below = [&random](std::uint64_t end) { return random() % end; };
  std::vector<Record> records(count);
  std::uint64_t time = 5'000'000'000;
  std::uint32_t sequence = 0xFFFFFFFF - static_cast<std::uint32_t>(count / 2);  // wraps around
  for (Record& record : records) {
    record.allocates = below(2) == 0;
    record.type = static_cast<Type>(below(2));
    if (layout.sequence.bytes != 0) record.sequence = ++sequence;
    if (layout.cpu.bytes != 0) record.cpu = static_cast<std::uint32_t>(below(4));
    if (layout.time_ns.bytes != 0) record.time_ns = time += 1 + below(10'000);
    record.call_site = (0xFFFFFFFF81000000 + below(1 << 20)) & word;
    record.ptr = (0xFFFF888000000000 + 8 * (1 + below(1 << 20))) & word;
    if (!record.allocates) continue;
    record.bytes_requested = 1 + below(8192);
    record.bytes_allocated = record.bytes_requested + below(100);
    record.gfp_flags = below(1 << 24);
    record.node = static_cast<std::int32_t>(below(3)) - 1;
  }
  return records;
}

File file_of(const std::vector<Record>& records, const Abi& abi) {
  File file;
  for (const Record& record : records) append(record, abi, file);
  return file;
}

void expect_event(const Event& event, const Record& record, const TraceInfo& info, const Abi& abi) {
  const EventKind kinds[2][2] = {{EventKind::kfree, EventKind::kmalloc},
                                 {EventKind::cache_free, EventKind::cache_alloc}};
  EXPECT_EQ(event.kind, kinds[record.type == Type::cache][record.allocates]);
  EXPECT_EQ(info.tables.call_sites[event.call_site.value], record.call_site);
  EXPECT_EQ(event.address, record.ptr);
  EXPECT_EQ(event.bytes_requested, record.bytes_requested);
  EXPECT_EQ(event.bytes_allocated, record.bytes_allocated);
  EXPECT_EQ(event.gfp_flags, record.gfp_flags);
  EXPECT_EQ(event.node, record.node);
  EXPECT_EQ(event.cpu, record.cpu);
  if (abi.layout->time_ns.bytes != 0) {
    EXPECT_EQ(event.time_ns, record.time_ns);
  }
}

class EveryAbi : public testing::TestWithParam<std::string> {
 protected:
  Abi abi_ = parse_abi(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Relay, EveryAbi,
                         testing::Values("v0-le", "v0-be", "v1-le", "v1-be", "v2-le", "v2-be", "v3-64-le", "v3-64-be",
                                         "v3-32-le", "v3-32-be"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(EveryAbi, IsDetectedAndReadBack) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const std::vector<Record> records = records_of(abi_, 300, seed);
    const ReadTrace trace = read_bytes(file_of(records, abi_));
    EXPECT_EQ(trace.info.format, "kmemtrace relay files, layout " + GetParam());
    EXPECT_EQ(trace.info.machine.byte_order, abi_.order);
    EXPECT_EQ(trace.info.findings.count_of(Imperfection::guessed_layout), 1u);
    EXPECT_EQ(trace.info.findings.count_of(Imperfection::ambiguous_layout), 0u);
    EXPECT_EQ(trace.info.findings.count_of(Imperfection::torn_record), 0u);
    EXPECT_EQ(trace.info.findings.count_of(Imperfection::sequence_gap), 0u);
    EXPECT_EQ(trace.info.findings.count_of(Imperfection::time_goes_backward), 0u);
    EXPECT_EQ(trace.info.machine.cpus, abi_.layout->cpu.bytes != 0 ? 4u : 1u);
    ASSERT_EQ(trace.events.size(), records.size());
    for (std::size_t i = 0; i < records.size(); ++i) expect_event(trace.events[i], records[i], trace.info, abi_);
  }
}

TEST_P(EveryAbi, IsDetectedFromOnlyAllocationsOrOnlyFrees) {
  for (const bool allocates : {true, false}) {
    std::vector<Record> records = records_of(abi_, 200, 7);
    std::erase_if(records, [&](const Record& record) { return record.allocates != allocates; });
    const File file = file_of(records, abi_);
    const Bytes bytes = file;
    const std::optional<Guess> guess = guess_abi({&bytes, 1});
    ASSERT_TRUE(guess);
    EXPECT_EQ(name_of(guess->abi), GetParam());
    EXPECT_FALSE(guess->is_ambiguous()) << describe(*guess);
  }
}

// A part of the file is missing, or the file has foreign bytes in the middle. All intact records must be read.
TEST_P(EveryAbi, ContinuesAfterDamage) {
  std::mt19937 random(3);
  const std::vector<Record> records = records_of(abi_, 100, 11);
  for (unsigned round = 0; round < 200; ++round) {
    File file = file_of({records.begin(), records.begin() + 50}, abi_);
    const File rest = file_of({records.begin() + 50, records.end()}, abi_);
    const std::size_t cut = 1 + random() % 20;
    const bool removes = round % 2 == 0;
    if (removes)
      file.resize(file.size() - cut);
    else
      file.insert(file.end(), cut, 0xA5);
    file.insert(file.end(), rest.begin(), rest.end());
    const ReadTrace trace = read_bytes(file, GetParam());
    EXPECT_GE(trace.info.findings.count_of(Imperfection::torn_record), 1u);
    // Only records next to the damage may be lost. All records from number 52 on must be read.
    ASSERT_GE(trace.events.size(), removes ? 97u : 100u);
    ASSERT_LE(trace.events.size(), 101u);
    for (std::size_t i = 0; i < 48; ++i)
      expect_event(trace.events[trace.events.size() - 1 - i], records[99 - i], trace.info, abi_);
    for (std::size_t i = 0; i < 49; ++i) expect_event(trace.events[i], records[i], trace.info, abi_);
  }
}

TEST_P(EveryAbi, ReportsACutOffEnd) {
  File file = file_of(records_of(abi_, 20, 1), abi_);
  file.resize(file.size() - 5);
  const ReadTrace trace = read_bytes(file);
  EXPECT_EQ(trace.events.size(), 19u);
  EXPECT_EQ(trace.info.findings.count_of(Imperfection::torn_record), 1u);
  ASSERT_EQ(trace.info.losses.intervals.size(), 1u);
  EXPECT_FALSE(trace.info.losses.intervals[0].count);
}

// The expected bytes are written by hand from the description of each layout, so they do not depend on the writer.
TEST(Relay, LayoutsMatchTheDescription) {
  Record alloc;
  alloc.allocates = true;
  alloc.type = Type::cache;
  alloc.sequence = 0x01020304;
  alloc.cpu = 3;
  alloc.time_ns = 0x0102030405060708;
  alloc.call_site = 0xC0100010;
  alloc.ptr = 0xC1000020;
  alloc.bytes_requested = 100;
  alloc.bytes_allocated = 128;
  alloc.gfp_flags = 0x80D0;
  alloc.node = 1;
  Record free;
  free.type = Type::cache;
  free.sequence = alloc.sequence;
  free.cpu = alloc.cpu;
  free.time_ns = alloc.time_ns;
  free.call_site = alloc.call_site;
  free.ptr = alloc.ptr;
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const auto build = [order](unsigned long_bytes = 8) { return ByteBuilder({order, long_bytes}); };
    const auto expect = [&](const char* name, const ByteBuilder& allocation, const ByteBuilder& release) {
      const Abi abi = abi_of((std::string(name) + (order == ByteOrder::little ? "-le" : "-be")).c_str());
      EXPECT_EQ(file_of({alloc}, abi), allocation.get()) << name;
      EXPECT_EQ(file_of({free}, abi), release.get()) << name;
      EXPECT_EQ(record_bytes(allocation.get(), abi), allocation.size()) << name;
      EXPECT_EQ(record_bytes(release.get(), abi), release.size()) << name;
    };
    expect("v0",
           build()
               .u16(1)
               .u16(1)
               .u32(1)
               .u64(alloc.call_site)
               .u64(alloc.ptr)
               .u64(100)
               .u64(128)
               .u64(0x80D0)
               .u64(alloc.time_ns),
           build().u16(2).u16(1).u32(0).u64(alloc.call_site).u64(alloc.ptr).u64(0).u64(0).u64(0).u64(alloc.time_ns));
    expect(
        "v1",
        build()
            .u8(1)
            .u8(1)
            .u16(56)
            .u32(1)
            .u64(alloc.call_site)
            .u64(alloc.ptr)
            .u64(100)
            .u64(128)
            .u64(0x80D0)
            .u64(alloc.time_ns),
        build().u8(2).u8(1).u16(56).u32(0).u64(alloc.call_site).u64(alloc.ptr).u64(0).u64(0).u64(0).u64(alloc.time_ns));
    const auto v2 = [&](unsigned id, unsigned size) {
      return build().u8(static_cast<std::uint8_t>(id)).u8(1).u16(static_cast<std::uint16_t>(size)).u32(alloc.sequence);
    };
    expect("v2", v2(0, 48).u64(alloc.call_site).u64(alloc.ptr).u64(100).u64(128).u32(0x80D0).u32(1),
           v2(1, 24).u64(alloc.call_site).u64(alloc.ptr));
    for (const unsigned long_bytes : {8u, 4u}) {
      const auto v3 = [&](unsigned id, unsigned size) {
        ByteBuilder head = build(long_bytes);
        head.u8(static_cast<std::uint8_t>(id)).u8(1).u16(static_cast<std::uint16_t>(size)).u32(3).u64(alloc.time_ns);
        return head.word(alloc.call_site).word(alloc.ptr);
      };
      expect(long_bytes == 8 ? "v3-64" : "v3-32",
             v3(0, long_bytes == 8 ? 56 : 40).word(100).word(128).u32(0x80D0).u32(1), v3(1, long_bytes == 8 ? 32 : 24));
    }
  }
}

TEST(Relay, GarbageInFreesIsNotRead) {
  for (const char* const name : {"v0-le", "v1-be"}) {
    const Abi abi = abi_of(name);
    std::vector<Record> records = records_of(abi, 50, 2);
    File file = file_of(records, abi);
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (records[i].allocates) continue;
      std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(56 * i + 4), 4, 0xEE);
      std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(56 * i + 24), 24, 0xEE);
    }
    const ReadTrace trace = read_bytes(file);
    EXPECT_EQ(trace.info.format, std::string("kmemtrace relay files, layout ") + name);
    ASSERT_EQ(trace.events.size(), records.size());
    for (std::size_t i = 0; i < records.size(); ++i) expect_event(trace.events[i], records[i], trace.info, abi);
  }
}

TEST(Relay, NullRecordsAreEventsThatWereLost) {
  const Abi abi = abi_of("v1-le");
  const std::vector<Record> records = records_of(abi, 40, 5);
  File file = file_of({records.begin(), records.begin() + 20}, abi);
  file.resize(file.size() + std::size_t{3} * 56);
  const File rest = file_of({records.begin() + 20, records.end()}, abi);
  file.insert(file.end(), rest.begin(), rest.end());
  const ReadTrace trace = read_bytes(file);
  EXPECT_EQ(trace.events.size(), 40u);
  EXPECT_EQ(trace.info.findings.count_of(Imperfection::null_record), 3u);
  EXPECT_EQ(trace.info.findings.count_of(Imperfection::torn_record), 0u);
  ASSERT_EQ(trace.info.losses.intervals.size(), 1u);
  EXPECT_EQ(trace.info.losses.intervals[0].count, 3u);
  EXPECT_EQ(trace.info.losses.intervals[0].before_ns, records[19].time_ns);
  EXPECT_EQ(trace.info.losses.intervals[0].after_ns, records[20].time_ns);
  EXPECT_EQ(trace.info.losses.intervals[0].offset, 20u * 56);
}

TEST(Relay, ExtensionsOfV2AreSkipped) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    ByteBuilder file({order, 8});
    for (std::uint32_t number = 1; number <= 9; ++number)
      file.u8(1)
          .u8(0)
          .u16(24 + 7 + 3)
          .u32(number)
          .u64(0xC0100000)
          .u64(0xC1000000 + 8 * number)  //
          .u16(7)
          .u8(1)
          .u32(0xDDDDDDDD)  // a feature with 4 bytes of data, followed by a feature without data
          .u16(3)
          .u8(2);
    const ReadTrace trace = read_bytes(file.get());
    EXPECT_EQ(trace.events.size(), 9u);
    EXPECT_EQ(trace.info.findings.count_of(Imperfection::torn_record), 0u);
    EXPECT_EQ(trace.info.machine.word_bits, 32u);
  }
}

TEST(Relay, AGivenAbiIsUsed) {
  const File file = file_of(records_of(abi_of("v1-le"), 20, 1), abi_of("v1-le"));
  const ReadTrace trace = read_bytes(file, "v3-64-le");
  EXPECT_EQ(trace.info.format, "kmemtrace relay files, layout v3-64-le");
  EXPECT_EQ(trace.info.findings.count_of(Imperfection::guessed_layout), 0u);
  EXPECT_GT(trace.info.findings.count_of(Imperfection::torn_record), 0u);
  EXPECT_THROW(read_bytes(file, "v4-le"), Error);
}

TEST(Relay, OtherFilesAreNotRelayFiles) {
  std::mt19937 random(1);
  EXPECT_THROW(read_bytes({}), Error);
  EXPECT_THROW(read_bytes(File(100'000, 0)), Error);
  for (const std::size_t size : {1u, 23u, 24u, 56u, 1000u, 100'000u}) {
    File file(size);
    for (std::uint8_t& byte : file) byte = static_cast<std::uint8_t>(random());
    EXPECT_THROW(read_bytes(file), Error) << size;
    for (std::uint8_t& byte : file) byte = static_cast<std::uint8_t>(random() % 3);
    EXPECT_THROW(read_bytes(file), Error) << size;
  }
}

// One record of layout v2 of a 32-bit kernel. Its sequence number could be a CPU number too, so two layouts match.
TEST(Relay, AmbiguousLayoutsAreReported) {
  ByteBuilder file({ByteOrder::little, 4});
  file.u8(1).u8(0).u16(24).u32(1).u64(0xC0100000).u32(0xC1000000).u32(0xC2000000);
  const ReadTrace trace = read_bytes(file.get());
  EXPECT_EQ(trace.info.findings.count_of(Imperfection::ambiguous_layout), 1u);
}

TEST(Relay, RulesOfTheLayoutAreChecked) {
  std::vector<Record> records = records_of(abi_of("v1-le"), 20, 4);
  for (Record& record : records) record.allocates = true;
  records[5].ptr = 0;
  records[7].bytes_requested = 0;
  records[9].time_ns = records[8].time_ns - 10;
  const ReadTrace trace = read_bytes(file_of(records, abi_of("v1-le")));
  EXPECT_EQ(trace.events.size(), 20u);
  EXPECT_EQ(trace.info.findings.count_of(Imperfection::time_goes_backward), 1u);
  EXPECT_GE(trace.info.findings.count_of(Imperfection::illegal_record), 2u);
}

class RelayCapture : public RelayFolder {
 protected:
  static Record record_of(std::uint32_t number) {
    Record record;
    record.allocates = true;
    record.sequence = number;
    record.call_site = 0xC0100000;
    record.ptr = 0xC1000000 + 64 * std::uint64_t{number % 1000};
    record.bytes_requested = record.bytes_allocated = 64;
    return record;
  }
  // Distributes records with these sequence numbers over the CPUs at random.
  void put_v2(const std::vector<std::uint32_t>& numbers, unsigned cpus, const char* abi = "v2-be") {
    std::vector<std::vector<Record>> files(cpus);
    std::mt19937 random(9);
    for (const std::uint32_t number : numbers) files[random() % cpus].push_back(record_of(number));
    for (unsigned cpu = 0; cpu < cpus; ++cpu)
      put("cpu" + std::to_string(cpu) + ".out", file_of(files[cpu], abi_of(abi)));
  }
  ReadTrace read(OpenOptions options = {}) { return read_all(open_trace(path_.string(), options)); }

  static std::vector<std::uint32_t> numbers(std::uint32_t first, std::uint32_t count) {
    std::vector<std::uint32_t> run(count);
    for (std::uint32_t& number : run) number = first++;
    return run;
  }
};

TEST_F(RelayCapture, NumbersGiveTheOrderAcrossFilesAndWraps) {
  for (const std::uint32_t first : {1u, 0x7FFFFF00u, 0xFFFFFF00u}) {
    put_v2(numbers(first, 500), 3);
    const ReadTrace trace = read();
    ASSERT_EQ(trace.events.size(), 500u);
    for (std::size_t i = 0; i < trace.events.size(); ++i)
      EXPECT_EQ(static_cast<std::uint32_t>(trace.events[i].time_ns), static_cast<std::uint32_t>(first + i));
    EXPECT_EQ(trace.info.findings.count_of(Imperfection::sequence_gap), 0u);
    EXPECT_EQ(trace.info.findings.count_of(Imperfection::duplicate_record), 0u);
    EXPECT_EQ(trace.info.findings.count_of(Imperfection::late_first_number), first == 1 ? 0u : 1u);
    EXPECT_FALSE(trace.info.clock.in_ns);
    EXPECT_EQ(trace.info.machine.cpus, 3u);
  }
}

TEST_F(RelayCapture, GapsAndDuplicatesAreCounted) {
  std::vector<std::uint32_t> run = numbers(1, 300);
  run.erase(run.begin() + 100, run.begin() + 110);
  run.erase(run.begin() + 200);
  put_v2(run, 2);
  File again = file_of({}, abi_of("v2-be"));
  for (const std::uint32_t number : {5u, 50u}) append(record_of(number), abi_of("v2-be"), again);
  put("cpu2.out", again);
  const ReadTrace trace = read();
  EXPECT_EQ(trace.events.size(), 289u);
  EXPECT_EQ(trace.info.findings.count_of(Imperfection::sequence_gap), 11u);
  EXPECT_EQ(trace.info.findings.count_of(Imperfection::duplicate_record), 2u);
  EXPECT_EQ(total_lost_events(trace.info.losses), 11u);
}

// A file contains all or a part of its data twice. A record with an equal number but other content is a different
// record.
TEST_F(RelayCapture, DuplicateBlocksCountOnce) {
  const Abi abi = abi_of("v2-le");
  const auto append_all = [&abi](const std::vector<std::uint32_t>& run, File& file) {
    for (const std::uint32_t number : run) append(record_of(number), abi, file);
  };
  for (const std::uint32_t first : {1u, 0xFFFFFC00u}) {
    File file;
    append_all(numbers(first, 1500), file);
    append_all(numbers(first + 100, 700), file);
    append_all(numbers(first + 1500, 500), file);
    append_all(numbers(first, 2000), file);
    put("cpu0.out", file);
    const ReadTrace trace = read();
    EXPECT_EQ(trace.events.size(), 2000u);
    EXPECT_EQ(trace.info.findings.count_of(Imperfection::duplicate_record), 2700u);
    EXPECT_EQ(trace.info.findings.count_of(Imperfection::sequence_gap), 0u);
    EXPECT_EQ(trace.info.findings.count_of(Imperfection::time_goes_backward), 0u);
    Record other = record_of(first + 5);
    other.ptr += 8;
    append(other, abi, file);
    put("cpu0.out", file);
    EXPECT_EQ(read().events.size(), 2001u);
  }
}

// The gap in the sequence numbers shows how many records are damaged. Without sequence numbers, this number is unknown.
TEST_F(RelayCapture, TornRecordsAreCountedOnlyByNumbers) {
  for (const char* const name : {"v2-le", "v1-le"}) {
    const Abi abi = abi_of(name);
    std::mt19937 random(2);
    File file;
    for (std::uint32_t number = 1; number <= 600; ++number) {
      Record record = record_of(number);
      record.time_ns = number;
      const std::size_t begin = file.size();
      append(record, abi, file);
      if (number > 200 && number <= 300)
        for (std::size_t i = begin; i < file.size(); ++i) file[i] = static_cast<std::uint8_t>(0xE0 | random());
    }
    put("cpu0.out", file);
    put("total_overruns", "0\n");
    const ReadTrace trace = read();
    EXPECT_EQ(trace.events.size(), 500u);
    EXPECT_EQ(trace.info.findings.count_of(Imperfection::torn_record), 1u);
    const bool numbered = abi.layout->sequence.bytes != 0;
    EXPECT_EQ(trace.info.losses.somewhere, numbered ? 100u : 0u);
    ASSERT_EQ(trace.info.losses.intervals.size(), numbered ? 0u : 1u);
    if (!numbered) {
      EXPECT_FALSE(trace.info.losses.intervals[0].count);
    }
  }
}

// A single sequence number with a wrong bit does not mean a loss if the records around it are in order.
TEST_F(RelayCapture, DamagedNumbersAreNoGaps) {
  for (const std::uint32_t first : {1u, 0xFFFFFF00u})
    for (const auto& [wrong, cpus] : {std::pair(1u << 29, 2u), std::pair(1u << 20, 3u), std::pair(0xFFu << 16, 1u)}) {
      std::vector<File> files(cpus);
      for (std::uint32_t i = 0; i < 500; ++i) {
        Record record = record_of(first + i);
        if (i == 400) record.sequence ^= wrong;
        append(record, abi_of("v2-be"), files[i % cpus]);
      }
      for (unsigned cpu = 0; cpu < 3; ++cpu)
        put("cpu" + std::to_string(cpu) + ".out", cpu < cpus ? files[cpu] : File());
      const ReadTrace trace = read();
      ASSERT_EQ(trace.events.size(), 500u);
      EXPECT_EQ(static_cast<std::uint32_t>(trace.events[400].time_ns), first + 400);
      EXPECT_EQ(trace.info.findings.count_of(Imperfection::damaged_number), 1u);
      EXPECT_EQ(trace.info.findings.count_of(Imperfection::sequence_gap), 0u);
      EXPECT_EQ(trace.info.findings.count_of(Imperfection::duplicate_record), 0u);
      EXPECT_EQ(total_lost_events(trace.info.losses), 0u);
    }
}

TEST_F(RelayCapture, AdjacentFilesAreRead) {
  put_v2(numbers(1, 50), 2);
  EXPECT_EQ(read().info.findings.count_of(Imperfection::unknown_loss), 1u);
  put("kallsyms", "c0100000 T allocate\n");
  put("total_overruns", "17\n");
  const ReadTrace trace = read();
  EXPECT_EQ(trace.info.code.kallsyms, "c0100000 T allocate\n");
  EXPECT_EQ(trace.info.machine.word_bits, 32u);
  EXPECT_EQ(trace.info.findings.count_of(Imperfection::unknown_loss), 0u);
  EXPECT_EQ(trace.info.findings.count_of(Imperfection::lost_events), 17u);
  EXPECT_EQ(total_lost_events(trace.info.losses), 17u);
}

TEST_F(RelayCapture, UnreadableAdjacentFilesAreReported) {
  put_v2(numbers(1, 50), 1);
  put("kallsyms", std::string(3000, '\xE7'));
  for (const char* const bad : {"garbage\n", "99999999999999999999999\n", "", "-1", "5 6"}) {
    put("total_overruns", bad);
    const ReadTrace trace = read();
    EXPECT_EQ(trace.info.findings.count_of(Imperfection::unreadable_symbols), 1u);
    EXPECT_EQ(trace.info.code.kallsyms, "");
    EXPECT_EQ(trace.info.findings.count_of(Imperfection::unknown_loss), 1u);
    for (const Finding& finding : trace.info.findings.kept())
      if (finding.kind == Imperfection::unknown_loss) {
        EXPECT_NE(finding.detail.find("has no readable number"), std::string::npos);
      }
  }
}

// A user may name all files of a folder, as with `*` in a shell.
TEST_F(RelayCapture, AdjacentFilesMayBeNamed) {
  put_v2(numbers(1, 50), 1);
  put("kallsyms", "c0100000 T allocate\n");
  put("total_overruns", "17\n");
  OpenOptions options;
  options.more_files = {path("kallsyms"), path("total_overruns")};
  const ReadTrace trace = read_all(open_trace(path("cpu0.out"), options));
  EXPECT_EQ(trace.events.size(), 50u);
  EXPECT_EQ(trace.info.machine.cpus, 1u);
  EXPECT_EQ(trace.info.code.kallsyms, "c0100000 T allocate\n");
  EXPECT_EQ(total_lost_events(trace.info.losses), 17u);
}

// After each conversion, missing data must still be reported.
TEST_F(RelayCapture, ConvertedTracesReportTheSameLosses) {
  std::vector<std::uint32_t> run = numbers(1, 300);
  run.erase(run.begin() + 100, run.begin() + 105);
  put_v2(run, 3);
  fs::remove(path("cpu1.out"));
  const ReadTrace before = read();
  const auto convert = [](const std::string& from, auto&& writer, Findings& findings) {
    read_records(from, {}, writer, findings);
    writer.finish();
  };
  const auto lacks_the_same = [&before](const ReadTrace& after) {
    EXPECT_EQ(after.events.size(), before.events.size()) << after.info.format;
    EXPECT_EQ(total_lost_events(after.info.losses), total_lost_events(before.info.losses)) << after.info.format;
    for (const Imperfection kind : {Imperfection::unknown_loss, Imperfection::missing_cpu})
      EXPECT_EQ(after.info.findings.count_of(kind), 1u) << after.info.format << ' ' << describe(kind).id;
  };
  ASSERT_GT(total_lost_events(before.info.losses), 5u);
  Findings first, second, third, fourth;
  convert(path_.string(), kmt_format::RecordWriter(path("x.kmt"), first), first);
  lacks_the_same(read_all(open_trace(path("x.kmt"))));
  convert(path("x.kmt"), tracedat::RecordWriter(path("x.dat"), 7, second), second);
  lacks_the_same(read_all(open_trace(path("x.dat"))));
  convert(path("x.dat"), ctf::RecordWriter(path("x.ctf"), third), third);
  lacks_the_same(read_all(open_trace(path("x.ctf"))));
  convert(path("x.ctf"), kmt_format::RecordWriter(path("y.kmt"), fourth), fourth);
  lacks_the_same(read_all(open_trace(path("y.kmt"))));
}

TEST_F(RelayCapture, OmittedFilesAreReportedMissing) {
  put_v2(numbers(1, 50), 3);
  OpenOptions options;
  EXPECT_EQ(read_all(open_trace(path("cpu1.out"), options)).info.findings.count_of(Imperfection::missing_cpu), 2u);
  options.more_files = {path("cpu2.out")};
  EXPECT_EQ(read_all(open_trace(path("cpu1.out"), options)).info.findings.count_of(Imperfection::missing_cpu), 1u);
  options.more_files = {path("cpu0.out"), path("cpu2.out")};
  EXPECT_EQ(read_all(open_trace(path("cpu1.out"), options)).events.size(), 50u);
  options.more_files = {};
  options.one_cpu_alone = true;
  const ReadTrace alone = read_all(open_trace(path("cpu1.out"), options));
  EXPECT_EQ(alone.info.findings.count_of(Imperfection::missing_cpu), 0u);
  EXPECT_EQ(alone.info.findings.count_of(Imperfection::sequence_gap), 0u);
}

TEST_F(RelayCapture, ContentNotTheNameDecides) {
  put("holiday.jpg", file_of(records_of(abi_of("v0-be"), 30, 1), abi_of("v0-be")));
  EXPECT_EQ(read_all(open_trace(path("holiday.jpg"))).events.size(), 30u);
  put("cpu0.out", "no records at all, just text");
  EXPECT_THROW(open_trace(path("cpu0.out")), Error);
  EXPECT_THROW(read(), Error);
}

TEST_F(RelayCapture, ACpuWithoutEventsHasAnEmptyFile) {
  put_v2(numbers(1, 50), 1);
  put("cpu1.out", "");
  EXPECT_EQ(read().info.findings.count_of(Imperfection::missing_cpu), 0u);
  EXPECT_EQ(read_all(open_trace(path("cpu1.out"))).events.size(), 0u);
}

TEST_F(RelayCapture, ManyCpusAreConvertedInTwoPasses) {
  const Abi abi = abi_of("v3-64-le");
  std::vector<Record> records = records_of(abi, 2000, 5);
  for (std::size_t i = 0; i < records.size(); ++i) records[i].cpu = static_cast<std::uint32_t>(i % 500);
  const File file = file_of(records, abi);
  unsigned opened = 0;
  test::CheckedSink sink;
  Findings findings;
  const auto open = [&] {
    ++opened;
    return open_trace(TraceFile{"a file", file, nullptr});
  };
  records_of_events(open, sink, findings);
  sink.expect_ended();
  EXPECT_EQ(sink.records, records.size());
  EXPECT_EQ(opened, 2u);
}

// Relay files that are converted to .kmt must have the same events as before. The migrate type is not compared, because
// relay records have none.
TEST_F(RelayCapture, ConvertedTracesHaveTheSameEvents) {
  for (const Abi& abi : all_abis()) {
    fs::remove_all(path_);
    fs::create_directory(path_);
    const bool numbered = abi.layout->sequence.bytes != 0;
    std::vector<Record> records = records_of(abi, 400, 8);
    for (Record& record : records) record.cpu = 0;
    File file = file_of({records.begin(), records.begin() + 200}, abi);
    file.insert(file.end(), 9, 0xFF);
    const File rest = file_of({records.begin() + 200, records.end()}, abi);
    file.insert(file.end(), rest.begin(), rest.end());
    put("cpu0.out", file);
    put("kallsyms", "ffffffff81000000 T allocate\n");
    put("total_overruns", "3\n");
    Findings findings;
    kmt_format::RecordWriter writer(path("x.kmt"), findings);
    read_records(path_.string(), {}, writer, findings);
    writer.finish();
    const ReadTrace before = read();
    const ReadTrace after = read_all(open_trace(path("x.kmt")));
    ASSERT_EQ(before.events.size(), after.events.size()) << name_of(abi);
    for (std::size_t i = 0; i < before.events.size(); ++i) {
      Event a = before.events[i];
      Event b = after.events[i];
      EXPECT_EQ(before.info.tables.call_sites[a.call_site.value], after.info.tables.call_sites[b.call_site.value]);
      EXPECT_EQ(before.info.tables.event_types[a.type.value].name, after.info.tables.event_types[b.type.value].name);
      a.call_site = b.call_site = {};
      a.type = b.type = {};
      a.migrate_type = b.migrate_type = 0;
      EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0) << name_of(abi) << " event " << i;
    }
    EXPECT_EQ(before.info.machine.byte_order, after.info.machine.byte_order);
    EXPECT_EQ(before.info.machine.word_bits, after.info.machine.word_bits);
    EXPECT_EQ(before.info.code.kallsyms, after.info.code.kallsyms);
    EXPECT_EQ(before.info.clock.name, after.info.clock.name);
    EXPECT_EQ(after.info.losses.intervals.size(), numbered ? 0u : 1u);  // the sequence numbers have no gap
    EXPECT_EQ(total_lost_events(before.info.losses), total_lost_events(after.info.losses));
    EXPECT_EQ(numbered, after.info.clock.name == "counter");
  }
}

}  // namespace
}  // namespace kmt
