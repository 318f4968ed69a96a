// SPDX-License-Identifier: GPL-2.0-or-later
// Tests blocks and files of .kmt: data is read as it was written, and damage affects only the damaged data. A second
// decoder in tests/oracle checks that the bytes match docs/formats/kmt.md.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <tuple>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "formats/ftrace/event_format.hpp"
#include "formats/kmt/block_reader.hpp"
#include "formats/kmt/file_writer.hpp"
#include "formats/kmt/profile.hpp"
#include "formats/kmt/records.hpp"
#include "formats/registry.hpp"
#include "support/trace_dat_builder.hpp"

namespace kmt {
namespace {

using namespace test;
using namespace kmt_format;

using RecordBytes = std::vector<std::uint8_t>;

// An item of a stream: a record, or an item without bytes that stands for a loss.
struct Item {
  std::uint64_t ticks = 0;
  RecordBytes record;
  bool is_loss = false;
  std::optional<std::uint64_t> lost;
  bool operator==(const Item&) const = default;
};

void PrintTo(const Item& item, std::ostream* out) {
  *out << (item.is_loss ? "loss of " + std::to_string(item.lost.value_or(0)) : "record at ") << item.ticks << ":";
  for (const unsigned byte : item.record) *out << ' ' << std::hex << byte << std::dec;
}

Item record_at(std::uint64_t ticks, RecordBytes record) { return {ticks, std::move(record), false, {}}; }
Item loss(std::optional<std::uint64_t> count) { return {0, {}, true, count}; }

RecordLayouts layouts_of(Machine machine) {
  std::vector<kmt::FormatText> texts;
  for (const auto& [system, text] : kmem_formats(machine)) texts.push_back({system, text});
  Findings findings;
  return RecordLayouts(parse_event_formats(texts, findings), machine.order);
}

EventBlock encode(BlockEncoder& encoder, const std::vector<Item>& items) {
  for (const Item& item : items) {
    if (item.is_loss)
      encoder.add_lost(item.lost);
    else
      encoder.add(item.ticks, item.record);
  }
  return encoder.finish();
}

std::vector<Item> decode(const std::vector<std::uint8_t>& block, ByteOrder order) {
  BlockReader reader(block, order);
  std::vector<Item> items;
  BlockEvent event;
  std::size_t lost = 0;
  for (std::uint64_t position = 0;; ++position) {
    for (; lost < reader.lost().size() && reader.lost()[lost].before_event == position; ++lost)
      items.push_back(loss(reader.lost()[lost].count));
    if (!reader.next(event)) break;
    RecordBytes record;
    reader.rebuild(event, record);
    items.push_back(record_at(event.ticks, record));
  }
  EXPECT_EQ(lost, reader.lost().size());
  return items;
}

std::vector<Item> there_and_back(Machine machine, const std::vector<Item>& items) {
  const RecordLayouts layouts = layouts_of(machine);
  BlockEncoder encoder(layouts);
  return decode(encode(encoder, items).bytes, machine.order);
}

class KmtBlock : public testing::TestWithParam<Machine> {};
INSTANTIATE_TEST_SUITE_P(Machines, KmtBlock,
                         testing::Values(Machine{ByteOrder::little, 8}, Machine{ByteOrder::little, 4},
                                         Machine{ByteOrder::big, 8}, Machine{ByteOrder::big, 4}));

constexpr std::uint64_t kSite = 0x81000010;
constexpr std::uint64_t kPointer = 0x87654320;

TEST_P(KmtBlock, EveryKindOfRecord) {
  const Machine machine = GetParam();
  const RecordBytes unknown = ByteBuilder(machine).u16(4711).u8(1).u8(2).u32(77).u32(0xDEADBEEF).u64(5).get();
  const std::vector<Item> items = {
      record_at(100, kmalloc_record(machine, kSite, kPointer, 100, 128, 42)),
      record_at(100, kmalloc_record(machine, kSite, kPointer + 64, 100, 128, -1)),
      record_at(107, unknown),
      record_at(108, {}),
      record_at(109, {0}),
      record_at(110, {0, 11, 0}),
      record_at(111, {11, 0, 0}),
      record_at(112, RecordBytes(7, 0xEE)),
      record_at(113, kfree_record(machine, kSite, kPointer, 2147483647)),
      record_at(114, kfree_record(machine, kSite, 0, -2147483647 - 1)),
      record_at(115, cache_free_record(machine, kSite, kPointer, "dentry")),
      record_at(116, cache_free_record(machine, kSite, kPointer, "a cache with a longer name")),
      record_at(117, page_alloc_record(machine, 0x1234, 2)),
      record_at(118, page_alloc_record(machine, ~std::uint64_t{0}, 0)),
      record_at(119, page_free_record(machine, 0x1234, 2)),
  };
  EXPECT_EQ(there_and_back(machine, items), items);
}

TEST_P(KmtBlock, TimeMayGoBackwardOrJumpForward) {
  const Machine machine = GetParam();
  const RecordBytes record = kfree_record(machine, kSite, kPointer);
  const std::vector<Item> items = {record_at(1'000'000, record), record_at(5, record), record_at(~0ull, record),
                                   record_at(0, record), record_at(1ull << 63, record)};
  EXPECT_EQ(there_and_back(machine, items), items);
}

TEST_P(KmtBlock, LossesKeepTheirPosition) {
  const Machine machine = GetParam();
  const RecordBytes record = kfree_record(machine, kSite, kPointer);
  const std::vector<Item> items = {loss(7), record_at(1, record), loss(std::nullopt),   record_at(2, record),
                                   loss(0), record_at(3, record), record_at(4, record), loss(1ull << 40)};
  EXPECT_EQ(there_and_back(machine, items), items);
  EXPECT_EQ(there_and_back(machine, {loss(3)}), std::vector<Item>{loss(3)}) << "a block without events";
  EXPECT_TRUE(there_and_back(machine, {}).empty());
}

TEST_P(KmtBlock, LossesAtOnePositionAddUp) {
  const Machine machine = GetParam();
  const RecordBytes record = kfree_record(machine, kSite, kPointer);
  const auto back = there_and_back(
      machine, {record_at(1, record), loss(3), loss(4), record_at(2, record), loss(1), loss(std::nullopt)});
  const std::vector<Item> expected = {record_at(1, record), loss(7), record_at(2, record), loss(std::nullopt)};
  EXPECT_EQ(back, expected);
}

TEST_P(KmtBlock, MoreAddressesThanTheRecencyListHas) {
  const Machine machine = GetParam();
  std::vector<Item> items;
  for (const unsigned distance : {1u, 63u, 64u, 65u, 200u})
    for (unsigned i = 0; i < 400; ++i) {
      items.push_back(record_at(i, kfree_record(machine, kSite, kPointer + 64 * (i % distance))));
      items.push_back(record_at(i, page_free_record(machine, i % distance, 0)));
    }
  EXPECT_EQ(there_and_back(machine, items), items);
}

TEST_P(KmtBlock, AddressesFarApart) {
  const Machine machine = GetParam();
  std::vector<Item> items;
  for (const std::uint64_t address : {0ull, ~0ull, 1ull << 63, 1ull, 0x8000'0000ull, 0xFFFF'8880'0000'0000ull})
    items.push_back(record_at(1, kfree_record(machine, kSite, address)));
  EXPECT_EQ(there_and_back(machine, items), items);
  const std::vector<Item> one = {record_at(1, kfree_record(machine, kSite, 1ull << 63))};
  EXPECT_EQ(there_and_back(machine, one), one) << "the largest shift";
}

TEST_P(KmtBlock, BytesOutsideFieldsBecomeZero) {
  const Machine machine = GetParam();
  const RecordBytes clean = kmalloc_record(machine, kSite, kPointer, 100, 128);
  RecordBytes stale = clean;
  RecordBytes padded = clean;
  stale.resize(clean.size() + 8, 0xAA);
  padded.resize(clean.size() + 8, 0);
  EXPECT_EQ(there_and_back(machine, {record_at(1, stale)}), std::vector<Item>{record_at(1, padded)});

  // Stale bytes that follow a dynamic field must be removed too, but not the bytes of the field.
  const RecordBytes name = cache_free_record(machine, kSite, kPointer, "sixteen bytes !");
  RecordBytes stale_name = name;
  RecordBytes padded_name = name;
  stale_name.resize(name.size() + 4, 0xAA);
  padded_name.resize(name.size() + 4, 0);
  EXPECT_EQ(there_and_back(machine, {record_at(1, stale_name)}), std::vector<Item>{record_at(1, padded_name)});
}

TEST_P(KmtBlock, AnEncoderStartsAnewAfterABlock) {
  const Machine machine = GetParam();
  const RecordLayouts layouts = layouts_of(machine);
  BlockEncoder encoder(layouts);
  const std::vector<Item> first = {record_at(9, kfree_record(machine, kSite, kPointer, 5)), loss(1)};
  const std::vector<Item> second = {record_at(3, kfree_record(machine, kSite, kPointer + 8, 6))};
  encode(encoder, first);
  EXPECT_TRUE(encoder.empty());
  const EventBlock block = encode(encoder, second);
  EXPECT_EQ(decode(block.bytes, machine.order), second);
  EXPECT_EQ(block.events, 1u);
  EXPECT_EQ(block.first_ticks, 3u);
  EXPECT_EQ(block.last_ticks, 3u);
}

TEST_P(KmtBlock, RandomRecords) {
  const Machine machine = GetParam();
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&random](std::uint64_t bound) { return random() % bound; };
    std::vector<Item> items;
    std::uint64_t ticks = random();
    const std::uint64_t spread = std::uint64_t{1} << below(40);  // range of the addresses
    const std::uint64_t count = below(600);
    for (std::uint64_t i = 0; i < count; ++i) {
      ticks += below(50) == 0 ? random() : below(2000);
      const auto tid = static_cast<std::int32_t>(below(20) == 0 ? random() : below(3));
      const std::uint64_t address = below(30) == 0 ? random() : kPointer + 8 * below(spread);
      const bool may_be_lost = items.empty() || !items.back().is_loss;
      switch (below(may_be_lost ? 7 : 6)) {
        case 0:
          items.push_back(record_at(ticks, kmalloc_record(machine, kSite + below(9), address, 9, 16, tid)));
          break;
        case 1: items.push_back(record_at(ticks, kfree_record(machine, kSite + below(9), address, tid))); break;
        case 2: items.push_back(record_at(ticks, cache_free_record(machine, kSite, address, "name"))); break;
        case 3:
          items.push_back(record_at(ticks, page_alloc_record(machine, address, static_cast<std::uint32_t>(below(11)))));
          break;
        case 4: items.push_back(record_at(ticks, page_free_record(machine, address, 0))); break;
        case 5: {
          RecordBytes record(below(40));
          for (std::uint8_t& byte : record) byte = static_cast<std::uint8_t>(random());
          if (record.size() >= 2) record[0] = record[1] = 0xCC;  // there is no format for this event
          items.push_back(record_at(ticks, record));
          break;
        }
        default: items.push_back(loss(below(2) == 0 ? std::optional(below(1000)) : std::nullopt));
      }
    }
    ASSERT_EQ(there_and_back(machine, items), items) << "seed " << seed;
  }
}

// -- the reader on its own --------------------------------------------------------------------------------------------

// A block written by hand from the format's specification: two frees of one object by task 3, an unknown event, and a
// loss.
struct HandMade {
  std::vector<std::uint8_t> times{5, 1, 0};
  std::vector<std::uint8_t> shapes{1, 1, 0};
  std::vector<std::uint8_t> dictionary{1, 8, 8, 16, 0x0C, 0, 0xF1, 0xF2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  std::vector<std::uint8_t> tasks{2, 6, 1, 1};  // two events of task 0 + 3, then one of task 3 - 1
  std::vector<std::uint8_t> recency{0, 1};
  std::vector<std::uint8_t> addresses{0x84, 0x02};  // the difference to the previous address: 130 << 3
  std::vector<std::uint8_t> literals{9, 1, 2, 3, 4, 0, 0, 0, 0, 5};
  std::vector<std::uint8_t> losses{1, 8};  // 7 events were lost after the first event
  std::uint8_t events = 3;
  std::uint8_t shift = 3;
  std::vector<std::uint8_t> times_head;  // bytes before the column `times`

  std::vector<std::uint8_t> build() const {
    std::vector<std::uint8_t> block{events, 100, 4, shift, 0};
    block.insert(block.end(), times_head.begin(), times_head.end());
    for (const auto* column : {&times, &shapes, &dictionary, &tasks, &recency, &addresses, &literals, &losses}) {
      block.push_back(static_cast<std::uint8_t>(column->size()));
      block.insert(block.end(), column->begin(), column->end());
    }
    return block;
  }
};

TEST(KmtBlockByHand, IsReadAsSpecified) {
  const RecordBytes free = {0x0C, 0, 0xF1, 0xF2, 3, 0, 0, 0, 0x10, 4, 0, 0, 0, 0, 0, 0};
  const std::vector<Item> expected = {record_at(105, free), loss(7), record_at(106, free),
                                      record_at(106, {1, 2, 3, 4, 2, 0, 0, 0, 5})};
  std::vector<std::uint8_t> block = HandMade{}.build();
  EXPECT_EQ(decode(block, ByteOrder::little), expected);
  block.insert(block.end(), {3, 1, 2, 3});
  EXPECT_EQ(decode(block, ByteOrder::little), expected) << "a column of a later version";
}

// Times in steps of 2.5 ticks: 12 steps (code 10, low bit 0), 1 step and 0 steps. The position starts at 100.5.
TEST(KmtBlockByHand, TimesInStepsAreReadAsSpecified) {
  const auto build = [](std::vector<std::uint8_t> step) {
    HandMade block;
    block.shift |= 0x80;
    block.times_head = std::move(step);
    block.times_head.insert(block.times_head.end(), {3, 10, 1, 0});  // the codes
    block.times = {0};                                               // the low bits
    return block.build();
  };
  const std::vector<Item> items = decode(build({0x80, 0x80, 0x80, 0x80, 0x28}), ByteOrder::little);  // 5 << 31
  ASSERT_EQ(items.size(), 4u);
  EXPECT_EQ(items[0].ticks, 130u);
  EXPECT_EQ(items[2].ticks, 133u);
  EXPECT_EQ(items[3].ticks, 133u);
  EXPECT_NO_THROW(decode(build({0x80, 0x80, 0x80, 0x80, 0x10}), ByteOrder::little)) << "a step of one tick";
  EXPECT_THROW(decode(build({0xFF, 0xFF, 0xFF, 0xFF, 0x0F}), ByteOrder::little), Error) << "a shorter step";
  EXPECT_THROW(decode(build({}), ByteOrder::little), Error) << "no step";
}

TEST(KmtBlockByHand, BrokenRulesAreErrors) {
  const auto expect_error = [](const char* what, auto&& damage) {
    HandMade block;
    damage(block);
    EXPECT_THROW(decode(block.build(), ByteOrder::little), Error) << what;
  };
  expect_error("too few times", [](HandMade& block) { block.times.pop_back(); });
  expect_error("an endless varint", [](HandMade& block) { block.times.assign(11, 0x80); });
  expect_error("more than 64 bits", [](HandMade& block) {
    block.times.assign(9, 0xFF);
    block.times.push_back(2);
  });
  expect_error("too few shapes", [](HandMade& block) { block.shapes.pop_back(); });
  expect_error("a shape that is not there", [](HandMade& block) { block.shapes[0] = 2; });
  expect_error("a kind that is not there", [](HandMade& block) { block.dictionary[0] = 3; });
  expect_error("no kind", [](HandMade& block) { block.dictionary[0] = 0; });
  expect_error("an address beyond the record", [](HandMade& block) { block.dictionary[1] = 9; });
  expect_error("an address of five bytes", [](HandMade& block) { block.dictionary[2] = 5; });
  expect_error("a shape that ends too early", [](HandMade& block) { block.dictionary.pop_back(); });
  expect_error("more shapes than events", [](HandMade& block) {
    const auto shape = block.dictionary;
    for (int i = 0; i < 3; ++i) block.dictionary.insert(block.dictionary.end(), shape.begin(), shape.end());
  });
  expect_error("an empty run", [](HandMade& block) { block.tasks[2] = 0; });
  expect_error("too few runs", [](HandMade& block) { block.tasks.resize(2); });
  expect_error("a place beyond the list", [](HandMade& block) { block.recency[1] = 65; });
  expect_error("too few places", [](HandMade& block) { block.recency.pop_back(); });
  expect_error("no far address", [](HandMade& block) { block.addresses.clear(); });
  expect_error("a literal that ends too early", [](HandMade& block) { block.literals[0] = 10; });
  expect_error("a loss after the block", [](HandMade& block) { block.losses[0] = 4; });
  expect_error("losses out of order", [](HandMade& block) { block.losses = {1, 1, 1, 1}; });
  expect_error("a shift of 64", [](HandMade& block) { block.shift = 64; });
  expect_error("more events than columns", [](HandMade& block) { block.events = 4; });
}

TEST(KmtChunk, UnpacksToWhatWasPacked) {
  for (const std::size_t size : {0u, 1u, 100u, 1u << 20, 5u << 20}) {
    const std::vector<std::uint8_t> zeros(size);  // the compression ratio is too large for the format
    const auto bytes = make_chunk(kEvents, 3, zeros);
    const auto chunk = chunk_at(bytes, 0);
    ASSERT_TRUE(chunk);
    EXPECT_EQ(chunk->stream, 3);
    EXPECT_EQ(unpack(*chunk), zeros);
  }
  EXPECT_THROW(make_chunk(kFacts, 0, std::vector<std::uint8_t>((64u << 20) + 1)), Error);
}

// -- whole files ------------------------------------------------------------------------------------------------------

class Collected : public RecordSink {
 public:
  void describe(const TraceDescription& description) override { described = description; }
  void begin_stream(const RecordStream& stream) override { streams.push_back({stream, {}}); }
  void record(std::uint64_t ticks, Bytes record) override {
    streams.back().second.push_back(record_at(ticks, {record.begin(), record.end()}));
  }
  void lost(std::optional<std::uint64_t> count) override { streams.back().second.push_back(loss(count)); }
  void end_stream() override { ++ended; }

  std::vector<Item> all() const {
    std::vector<Item> items;
    for (const auto& [stream, of_stream] : streams) items.insert(items.end(), of_stream.begin(), of_stream.end());
    return items;
  }

  TraceDescription described;
  std::vector<std::pair<RecordStream, std::vector<Item>>> streams;
  std::size_t ended = 0;
};

class TemporaryFile {
 public:
  TemporaryFile() : path_(std::filesystem::temp_directory_path() / ("kmt_test." + std::to_string(::getpid()))) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }
  std::vector<std::uint8_t> bytes() const {
    const std::string text = read_file(path_);
    return {text.begin(), text.end()};
  }

 private:
  std::string path_;
};

constexpr std::size_t kBlockItems = 3;

RecordBytes nth_record(Machine machine, std::uint64_t n) {
  return n % 2 == 0 ? kmalloc_record(machine, kSite, kPointer + 64 * n, 100, 128, static_cast<std::int32_t>(n))
                    : kfree_record(machine, kSite, kPointer + 64 * n - 64);
}

// Two streams of four blocks each, which take turns in the file, and the items of the streams.
struct SmallFile {
  std::vector<std::uint8_t> bytes;
  std::vector<Item> items;
  std::size_t first_block = 0;  // offset of the first block
};

SmallFile small_file(Machine machine, unsigned second_cpu = 1) {
  TraceDat dat;
  dat.machine = machine;
  dat.formats = kmem_formats(machine);
  dat.cpus = {{}, {}};
  Collected description;
  Findings findings;
  kmt::read_records(TraceFile{"made by hand", dat.version_7(), nullptr}, {}, description, findings);

  const TemporaryFile file;
  SmallFile small;
  std::vector<Item> of_streams[2];
  FileWriter writer(file.path(), Replaced::removed, kFeatureSteps);
  writer.publish();
  writer.append_description(description.described);
  writer.append_stream({0, "", 4096});
  writer.append_stream({second_cpu, "", 4096});
  small.first_block = file.bytes().size();
  const RecordLayouts layouts = layouts_of(machine);
  BlockEncoder encoder(layouts);
  for (unsigned block = 0; block < 8; ++block) {
    std::vector<Item> items;
    for (unsigned i = 0; i < kBlockItems; ++i) {
      const std::uint64_t n = block * kBlockItems + i;
      items.push_back(record_at(1000 + n, nth_record(machine, n)));
    }
    writer.append(pack(static_cast<std::uint16_t>(block % 2), encode(encoder, items)));
    of_streams[block % 2].insert(of_streams[block % 2].end(), items.begin(), items.end());
  }
  writer.finish();
  small.bytes = file.bytes();
  for (const auto& items : of_streams) small.items.insert(small.items.end(), items.begin(), items.end());
  return small;
}

struct ReadBack {
  std::vector<Item> items;
  std::size_t events = 0;  // number of events that open_trace() reads
  bool complained = false;
};

// Reads the file as records and as events.
ReadBack read_back(const std::vector<std::uint8_t>& bytes) {
  ReadBack back;
  const TraceFile file{"damaged", bytes, nullptr};
  const auto is_error = [](const Findings& findings) {
    for (const Finding& finding : findings.kept())
      if (describe(finding.kind).severity == Severity::error) return true;
    return false;
  };
  bool records_complain = false;
  try {
    Findings findings;
    Collected collected;
    kmt::read_records(file, {}, collected, findings);
    back.items = collected.all();
    records_complain = is_error(findings);
    EXPECT_EQ(collected.ended, collected.streams.size());
  } catch (const Error&) {
    records_complain = true;
  }
  bool source_complains = false;
  try {
    const auto source = open_trace(file);
    for (EventBatch batch; source->read(batch);) back.events += batch.size();
    source_complains = is_error(source->info().findings);
  } catch (const Error&) {
    source_complains = true;
  }
  back.complained = records_complain && source_complains;
  return back;
}

// True if `some` equals `all`, or lacks at most `most` items in one place.
bool lacks_at_most(const std::vector<Item>& all, const std::vector<Item>& some, std::size_t most) {
  if (some.size() > all.size() || all.size() - some.size() > most) return false;
  std::size_t same = 0;
  while (same < some.size() && some[same] == all[same]) ++same;
  return std::equal(some.begin() + static_cast<std::ptrdiff_t>(same), some.end(),
                    all.end() - static_cast<std::ptrdiff_t>(some.size() - same), all.end());
}

class KmtFile : public testing::TestWithParam<Machine> {};
INSTANTIATE_TEST_SUITE_P(Machines, KmtFile, testing::Values(Machine{ByteOrder::little, 8}, Machine{ByteOrder::big, 4}));

TEST(Kmt, ASecondStreamOfACpuIsIgnored) {
  const SmallFile file = small_file({ByteOrder::little, 8}, 0);
  const ReadBack back = read_back(file.bytes);
  EXPECT_TRUE(back.complained);
  EXPECT_EQ(back.items, (std::vector<Item>(file.items.begin(),
                                           file.items.begin() + static_cast<std::ptrdiff_t>(file.items.size() / 2))));
}

TEST(Kmt, ALossEndsAtTheNextEventOfItsCpu) {
  const Machine machine{ByteOrder::little, 8};
  const SmallFile with_description = small_file(machine);
  const TemporaryFile file;
  {
    Collected described;
    Findings findings;
    kmt::read_records(TraceFile{"made by hand", with_description.bytes, nullptr}, {}, described, findings);
    FileWriter writer(file.path(), Replaced::removed, kFeatureSteps);
    writer.append_description(described.described);
    writer.append_stream({0, "", 4096});
    const RecordLayouts layouts = layouts_of(machine);
    BlockEncoder encoder(layouts);
    writer.append(pack(0, encode(encoder, {record_at(1000, nth_record(machine, 0)), loss(3)})));
    writer.append(pack(0, encode(encoder, {record_at(2000, nth_record(machine, 1)), loss(4)})));
    writer.finish();
  }
  const std::vector<std::uint8_t> bytes = file.bytes();
  const auto source = open_trace(TraceFile{"made by hand", bytes, nullptr}, {});
  for (EventBatch batch; source->read(batch);) continue;
  const std::vector<LostEvents>& lost = source->info().losses.intervals;
  ASSERT_EQ(lost.size(), 2u);
  EXPECT_EQ(std::tuple(lost[0].count, lost[0].before_ns, lost[0].after_ns), std::tuple(3, 1000, 2000));
  EXPECT_EQ(std::tuple(lost[1].count, lost[1].before_ns, lost[1].after_ns), std::tuple(4, 2000, 0)) << "unknown";
}

TEST_P(KmtFile, Intact) {
  const SmallFile small = small_file(GetParam());
  const ReadBack back = read_back(small.bytes);
  EXPECT_FALSE(back.complained);
  EXPECT_EQ(back.items, small.items);
  EXPECT_EQ(back.events, small.items.size());
}

TEST_P(KmtFile, EveryTruncation) {
  const SmallFile small = small_file(GetParam());
  for (std::size_t size = 0; size < small.bytes.size(); ++size) {
    const ReadBack back = read_back({small.bytes.begin(), small.bytes.begin() + static_cast<std::ptrdiff_t>(size)});
    EXPECT_TRUE(back.complained) << size;
    for (const Item& item : back.items) EXPECT_NE(std::count(small.items.begin(), small.items.end(), item), 0) << size;
    if (size + kTrailerBytes >= small.bytes.size()) {
      EXPECT_EQ(back.items, small.items) << size;
    }
  }
}

TEST_P(KmtFile, EveryFlippedByte) {
  const SmallFile small = small_file(GetParam());
  for (std::size_t at = 0; at < small.bytes.size(); ++at) {
    if (at == 10 || at == 11) continue;  // bytes with flags of features that a reader may ignore
    for (const unsigned mask : {0x01u, 0x80u, 0xFFu}) {
      if (at == 12 && mask == kFeatureSteps) continue;  // blocks with times in steps are readable without this flag
      std::vector<std::uint8_t> damaged = small.bytes;
      damaged[at] ^= static_cast<std::uint8_t>(mask);
      const ReadBack back = read_back(damaged);
      ASSERT_TRUE(back.complained) << at;
      if (at < small.first_block) continue;
      ASSERT_TRUE(lacks_at_most(small.items, back.items, kBlockItems)) << at;
      ASSERT_EQ(back.events, back.items.size()) << at;
    }
  }
}

TEST_P(KmtFile, BytesBetweenChunks) {
  const SmallFile small = small_file(GetParam());
  std::vector<std::uint8_t> damaged = small.bytes;
  const std::string junk = "KMTc and then something else, KMTcKMTc";
  damaged.insert(damaged.begin() + static_cast<std::ptrdiff_t>(small.first_block), junk.begin(), junk.end());
  const ReadBack back = read_back(damaged);
  EXPECT_TRUE(back.complained);
  EXPECT_EQ(back.items, small.items);
}

TEST_P(KmtFile, EventsOfAStreamWithoutADescriptionAreIgnored) {
  const SmallFile small = small_file(GetParam());
  std::vector<std::uint8_t> damaged = small.bytes;
  damaged[small.first_block - 1] ^= 1;  // damages the last byte of the description of stream 1
  const ReadBack back = read_back(damaged);
  EXPECT_TRUE(back.complained);
  EXPECT_EQ(back.items.size(), small.items.size() / 2);
  EXPECT_EQ(back.events, small.items.size() / 2);
}

TEST_P(KmtFile, ChunksOfALaterVersionAreSkipped) {
  const SmallFile small = small_file(GetParam());
  std::vector<std::uint8_t> extended = small.bytes;
  const auto chunk = make_chunk(static_cast<ChunkType>(200), 9, {1, 2, 3});
  extended.insert(extended.begin() + static_cast<std::ptrdiff_t>(small.first_block), chunk.begin(), chunk.end());
  // The trailer must contain the new offset of the index.
  std::uint8_t* const trailer = extended.data() + extended.size() - kTrailerBytes;
  store(trailer, load<std::uint64_t>(trailer, ByteOrder::little) + chunk.size(), ByteOrder::little);
  const ReadBack back = read_back(extended);
  EXPECT_FALSE(back.complained);
  EXPECT_EQ(back.items, small.items);
}

TEST(KmtFileHeader, OtherVersionsAndFeaturesAreRefused) {
  const SmallFile small = small_file({});
  for (const std::size_t at : {8u, 9u, 12u, 13u, 14u, 15u}) {
    std::vector<std::uint8_t> other = small.bytes;
    other[at] ^= 0x40;
    EXPECT_THROW(open_trace(TraceFile{"other", other, nullptr}), Error) << at;
  }
  std::vector<std::uint8_t> other = small.bytes;
  other[10] = 1;
  EXPECT_EQ(read_back(other).items, small.items);
}

TEST(KmtRecentAddresses, AreEqualInReaderAndWriter) {
  std::mt19937_64 random(7);
  RecencyList written;
  RecentAddresses read;
  for (unsigned i = 0; i < 20000; ++i) {
    const unsigned range = i / 2000 % 2 == 0 ? 40 : 400;  // the list has room for 40 addresses, but not for 400
    const std::uint64_t address = 1 + random() % range;
    const unsigned at = written.find_and_move(address);
    if (at < RecencyList::kSize)
      ASSERT_EQ(read.take(at), address) << i;
    else
      read.insert(address);
  }
}

TEST(KmtBlockReader, DamageLosesNoEarlierEvents) {
  const Machine machine{ByteOrder::little, 8};
  std::vector<Item> items;
  for (unsigned i = 0; i < 10; ++i)
    items.push_back(record_at(100 + i, kmalloc_record(machine, kSite, kPointer + 64 * i, 100, 128)));
  const RecordLayouts layouts = layouts_of(machine);
  BlockEncoder encoder(layouts);
  std::vector<std::uint8_t> block = encode(encoder, items).bytes;
  block.front() = 11;  // the block claims 11 events but has 10
  BlockReader reader(block, machine.order);
  std::array<BlockEvent, 8> events;
  EXPECT_EQ(reader.read(events), 8u);
  EXPECT_EQ(reader.read(events), 2u);
  EXPECT_EQ(events[1].ticks, 109u);
  EXPECT_EQ(events[1].address, kPointer + 64 * 9);
  EXPECT_THROW(reader.read(events), Error);
  EXPECT_THROW(reader.read(events), Error);
}

DrawnProfile some_profile() {
  DrawnProfile profile;
  profile.selection = "process 7";
  profile.start_unix_ns = 1'700'000'000'000'000'000;
  profile.duration_ns = 60'000'000'000;
  profile.mean_bytes = 4096;
  profile.has_pages = true;
  profile.losses.samples = 3;
  profile.losses.missed_frees = 9;
  profile.missing = {"kmem:kmalloc_node", "kmem:kmem_cache_alloc_node"};
  DrawnGroup task;
  task.stack = {0xffffffff81000010, 0xffffffff81000020, ~std::uint64_t{0}};
  task.call_site = 0xffffffff81000010;
  task.cgroup = 5;
  task.process = 812;
  task.comm = "name with \n and \xff";
  task.cache = "dentry";
  task.sizes = {{192, 192, 5, 2}, {1, ~std::uint64_t{0}, 0, 1}};
  DrawnGroup interrupt;
  interrupt.context = AllocationContext::hardirq;
  interrupt.pages = true;
  interrupt.sizes = {{4096, 4096, 1, 0}};
  profile.groups = {task, interrupt};
  profile.cgroups = {{5, "/a b"}};
  profile.caches = {CacheCounting::counted,
                    {{"filp", 192, 3020, 20, 3001}, {"a:b c", 8, 1, 2, {}}},
                    {4, {"f", "g"}, "--no-probes", 6}};
  return profile;
}

void expect_same(const DrawnProfile& a, const DrawnProfile& b) {
  EXPECT_EQ(a.selection, b.selection);
  EXPECT_EQ(a.start_unix_ns, b.start_unix_ns);
  EXPECT_EQ(a.duration_ns, b.duration_ns);
  EXPECT_EQ(a.mean_bytes, b.mean_bytes);
  EXPECT_EQ(a.has_pages, b.has_pages);
  EXPECT_EQ(a.losses.samples, b.losses.samples);
  EXPECT_EQ(a.losses.missed_frees, b.losses.missed_frees);
  EXPECT_EQ(a.missing, b.missing);
  EXPECT_EQ(a.cgroups, b.cgroups);
  EXPECT_EQ(a.caches.counting, b.caches.counting);
  EXPECT_EQ(a.caches.uncounted.objects, b.caches.uncounted.objects);
  EXPECT_EQ(a.caches.uncounted.functions, b.caches.uncounted.functions);
  EXPECT_EQ(a.caches.uncounted.reason, b.caches.uncounted.reason);
  EXPECT_EQ(a.caches.uncounted.missed_calls, b.caches.uncounted.missed_calls);
  ASSERT_EQ(a.caches.rows.size(), b.caches.rows.size());
  for (std::size_t i = 0; i < a.caches.rows.size(); ++i) {
    const CacheCount &one = a.caches.rows[i], &other = b.caches.rows[i];
    EXPECT_EQ(std::tie(one.name, one.object_bytes, one.allocations, one.frees, one.slabinfo_objects),
              std::tie(other.name, other.object_bytes, other.allocations, other.frees, other.slabinfo_objects));
  }
  ASSERT_EQ(a.groups.size(), b.groups.size());
  for (std::size_t i = 0; i < a.groups.size(); ++i) {
    const DrawnGroup& one = a.groups[i];
    const DrawnGroup& other = b.groups[i];
    EXPECT_EQ(std::tie(one.stack, one.call_site, one.cgroup, one.process, one.context, one.pages, one.comm, one.cache),
              std::tie(other.stack, other.call_site, other.cgroup, other.process, other.context, other.pages,
                       other.comm, other.cache));
    ASSERT_EQ(one.sizes.size(), other.sizes.size());
    for (std::size_t j = 0; j < one.sizes.size(); ++j)
      EXPECT_EQ(
          std::tie(one.sizes[j].requested, one.sizes[j].allocated, one.sizes[j].drawn, one.sizes[j].live),
          std::tie(other.sizes[j].requested, other.sizes[j].allocated, other.sizes[j].drawn, other.sizes[j].live));
  }
}

TEST(KmtProfile, IsReadBackUnchanged) {
  const TemporaryFile file;
  KernelDescription kernel;
  kernel.release = "6.1.0-test";
  kernel.system_name = "Linux";
  kernel.node_name = "host";
  kernel.machine = "x86_64";
  kernel.kallsyms = std::string("ffffffff81000000 t somewhere\n");
  const DrawnProfile profile = some_profile();
  write_profile(file.path(), profile, kernel);
  const std::string bytes = read_file(file.path());
  const TraceFile written{"made by hand", {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, nullptr};
  const StoredProfile read = read_profile(written);
  expect_same(read.profile, profile);
  EXPECT_EQ(read.profile.kernel, "6.1.0-test");
  EXPECT_EQ(read.kallsyms, kernel.kallsyms.text());
  EXPECT_THROW(open_trace(written), Error);

  std::vector<std::uint8_t> damaged(bytes.begin(), bytes.end());
  for (std::uint8_t& byte : damaged) {
    byte ^= 0x40;
    try {
      expect_same(read_profile({"damaged", damaged, nullptr}).profile, profile);
    } catch (const Error&) {
    }
    byte ^= 0x40;
  }
}

TEST(KmtProfile, ACutPayloadIsRefused) {
  // A payload with no facts; a task; process 1, cgroup 2, call site 3; the names "a" and "b"; a stack of two frames;
  // one size.
  const std::vector<std::uint8_t> payload = {0, 0, 1, 2, 3, 1, 'a', 1, 'b', 2, 10, 11, 1, 100, 128, 1, 4, 3};
  DrawnProfile profile;
  std::uint64_t budget = 1 << 20;
  decode_profile(payload, budget, profile);
  ASSERT_EQ(profile.groups.size(), 1u);
  EXPECT_EQ(profile.groups[0].stack, (std::vector<std::uint64_t>{10, 11}));
  EXPECT_EQ(profile.groups[0].sizes[0].allocated, 128u);
  EXPECT_EQ(profile.groups[0].sizes[0].live, 3u);
  for (std::size_t size = 2; size < payload.size(); ++size)
    EXPECT_THROW(decode_profile(Bytes(payload).first(size), budget, profile), Error) << size;
  for (const std::vector<std::uint8_t>& wrong :
       {std::vector<std::uint8_t>{0, 6, 1, 2, 3, 0, 0, 0, 0},  // context 6 does not exist
        {0, 0, 1, 2, 3, 0, 0, 0xFF, 0xFF, 0xFF, 0x7F, 0},      // a stack of millions of frames
        {0, 0, 1, 2, 3, 0, 0, 0, 1, 1, 0, 1, 1},               // a sample with a size of 0 bytes
        {0xFF, 0xFF, 0xFF, 0x7F},
        {1, 10, 'm', 'e', 'a', 'n', '_', 'b', 'y', 't', 'e', 's', 1, 'x'}})  // the fact mean_bytes is no number
    EXPECT_THROW(decode_profile(wrong, budget, profile), Error);
}

TEST(KmtProfile, NeedsMemoryInProportionToTheFile) {
  // Groups that take twelve bytes each, and a group that takes four bytes for each of its sizes.
  std::vector<std::uint8_t> groups = {0};
  for (int i = 0; i < 1000; ++i) groups.insert(groups.end(), {0, 1, 2, 3, 0, 0, 0, 1, 1, 1, 1, 1});
  std::vector<std::uint8_t> sizes = {0, 0, 1, 2, 3, 0, 0, 0, 0xE8, 0x07};
  sizes.insert(sizes.end(), 4000, 1);
  std::vector<std::uint8_t> deep = {0, 0, 1, 2, 3, 0, 0, 0x81, 0x08};  // a stack of 1025 frames
  deep.insert(deep.end(), 2000, 1);
  std::vector<std::uint8_t> many = {0, 0, 1, 2, 3, 0, 0, 0, 0x81, 0x80, 0x04};  // 65537 sizes
  many.insert(many.end(), 4 * 65537, 1);
  for (const std::vector<std::uint8_t>& payload : {groups, sizes}) {
    DrawnProfile profile;
    std::uint64_t enough = 1 << 20;
    decode_profile(payload, enough, profile);
    std::uint64_t too_little = 30'000;
    EXPECT_THROW(decode_profile(payload, too_little, profile), Error);
  }
  for (const std::vector<std::uint8_t>& payload : {deep, many}) {
    DrawnProfile profile;
    std::uint64_t budget = 64 << 20;
    EXPECT_THROW(decode_profile(payload, budget, profile), Error);
  }
}

TEST(KmtProfile, SamplesThatAreTooFarApartAreRefused) {
  const TemporaryFile file;
  DrawnProfile profile = some_profile();
  profile.mean_bytes = kMostMeanBytes + 1;
  write_profile(file.path(), profile, {});
  const std::string bytes = read_file(file.path());
  EXPECT_THROW(read_profile({"far", {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, nullptr}),
               Error);
}

}  // namespace
}  // namespace kmt
