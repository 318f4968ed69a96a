// SPDX-License-Identifier: GPL-2.0-or-later
// Writes records into ring-buffer pages and reads them back with the project's page walk and with libtraceevent's
// kbuffer.
#include "formats/ftrace/page_writer.hpp"

#include <gtest/gtest.h>

extern "C" {  // the header lacks extern "C"
#include <traceevent/kbuffer.h>
}

#include <memory>
#include <random>
#include <vector>

namespace kmt {
namespace {

using Record = std::vector<std::uint8_t>;

// A record, or a loss before the next record.
struct Item {
  std::uint64_t ticks = 0;
  Record record;
  bool is_loss = false;
  std::uint64_t lost = 0;  // 0 if unknown
  bool operator==(const Item&) const = default;
};

Item record_at(std::uint64_t ticks, Record record) { return {ticks, std::move(record), false, 0}; }
Item loss(std::uint64_t count) { return {0, {}, true, count}; }

Record bytes(std::size_t size) {
  Record record(size);
  for (std::size_t i = 0; i < size; ++i) record[i] = static_cast<std::uint8_t>(i * 7 + size);
  return record;
}

using Pages = std::vector<std::vector<std::uint8_t>>;

Pages write(const PageLayout& layout, const std::vector<Item>& items) {
  Pages pages;
  PageWriter writer(layout, [&](const std::vector<std::uint8_t>& page) {
    EXPECT_EQ(page.size(), layout.page_size);
    pages.push_back(page);
  });
  for (const Item& item : items) {
    if (item.is_loss)
      writer.lost(item.lost == 0 ? std::nullopt : std::optional(item.lost));
    else
      writer.record(item.ticks, item.record);
  }
  writer.finish();
  return pages;
}

std::vector<Item> walked(const PageLayout& layout, const Pages& pages) {
  std::vector<Item> items;
  for (const auto& page : pages) {
    const PageEnd head = read_page_header(page, layout).end;
    if (head.missed_events) items.push_back(loss(head.missed_count.value_or(0)));
    const PageEnd end = walk_page(page, layout, [&](std::uint64_t ticks, Bytes record, std::uint64_t) {
      items.push_back(record_at(ticks, {record.begin(), record.end()}));
    });
    EXPECT_EQ(end.damage, nullptr) << end.damage;
  }
  return items;
}

std::vector<Item> of_kbuffer(const PageLayout& layout, Pages pages) {
  const std::unique_ptr<kbuffer, void (*)(kbuffer*)> buffer(
      kbuffer_alloc(layout.long_bytes == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
                    layout.order == ByteOrder::big ? KBUFFER_ENDIAN_BIG : KBUFFER_ENDIAN_LITTLE),
      kbuffer_free);
  std::vector<Item> items;
  for (auto& page : pages) {
    kbuffer_load_subbuffer(buffer.get(), page.data());
    if (const int missed = kbuffer_missed_events(buffer.get()); missed != 0)
      items.push_back(loss(missed > 0 ? static_cast<std::uint64_t>(missed) : 0));
    unsigned long long time = 0;
    for (void* record = kbuffer_read_event(buffer.get(), &time); record != nullptr;
         record = kbuffer_next_event(buffer.get(), &time)) {
      const auto* const start = static_cast<const std::uint8_t*>(record);
      items.push_back(record_at(time, {start, start + kbuffer_event_size(buffer.get())}));
    }
  }
  return items;
}

class PageWriterOf : public testing::TestWithParam<PageLayout> {
 protected:
  static void expect_round_trip(const std::vector<Item>& items) {
    const Pages pages = write(GetParam(), items);
    EXPECT_EQ(walked(GetParam(), pages), items);
    EXPECT_EQ(of_kbuffer(GetParam(), pages), items);
  }
  static std::uint64_t room() { return GetParam().page_size - GetParam().data_offset(); }
};
INSTANTIATE_TEST_SUITE_P(Machines, PageWriterOf,
                         testing::Values(PageLayout{ByteOrder::little, 8, 4096}, PageLayout{ByteOrder::little, 4, 4096},
                                         PageLayout{ByteOrder::big, 8, 4096}, PageLayout{ByteOrder::big, 4, 4096},
                                         PageLayout{ByteOrder::little, 8, 65536}));

TEST_P(PageWriterOf, RecordsOfEveryLength) {
  std::vector<Item> items;
  for (std::size_t size = 4; size <= 1024; size += 4) items.push_back(record_at(1000 + size, bytes(size)));
  expect_round_trip(items);
  EXPECT_GT(write(GetParam(), items).size(), GetParam().page_size == 4096 ? 30u : 1u);
}

TEST_P(PageWriterOf, LengthsAreRoundedUp) {
  Record padded = bytes(5);
  padded.resize(8);
  EXPECT_EQ(walked(GetParam(), write(GetParam(), {record_at(1, bytes(5))})), std::vector<Item>{record_at(1, padded)});
  EXPECT_EQ(walked(GetParam(), write(GetParam(), {record_at(1, {})})), std::vector<Item>{record_at(1, {})});
}

TEST_P(PageWriterOf, TimesNearAndFar) {
  constexpr std::uint64_t kShort = 1u << 27;
  constexpr std::uint64_t kExtended = std::uint64_t{1} << 59;
  std::vector<Item> items;
  std::uint64_t ticks = 12345;
  for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{1}, kShort - 1, kShort, kShort + 1, kExtended - 1,
                                   kExtended, kExtended + 1, std::uint64_t{7}})
    items.push_back(record_at(ticks += step, bytes(8)));
  items.push_back(record_at(3, bytes(8)));  // the time goes backward
  items.push_back(record_at(0, bytes(8)));
  items.push_back(record_at(~std::uint64_t{0}, bytes(8)));
  expect_round_trip(items);
}

TEST_P(PageWriterOf, NearTimesShareAPage) {
  const std::uint64_t far = std::uint64_t{1} << 40;
  EXPECT_EQ(write(GetParam(), {record_at(1, bytes(8)), record_at(far, bytes(8)), record_at(far + 1, bytes(8))}).size(),
            1u);
}

TEST_P(PageWriterOf, LossesWithAndWithoutTheirNumber) {
  expect_round_trip({loss(5), record_at(1, bytes(8)), loss(0), record_at(2, bytes(8)), record_at(3, bytes(8)),
                     loss(1u << 30), record_at(4, bytes(8))});
}

TEST_P(PageWriterOf, LossesAtOnePositionAddUp) {
  const std::vector<Item> items = {record_at(1, bytes(8)), loss(3), loss(4), record_at(2, bytes(8)), loss(0), loss(4),
                                   record_at(3, bytes(8))};
  const std::vector<Item> expected = {record_at(1, bytes(8)), loss(7), record_at(2, bytes(8)), loss(0),
                                      record_at(3, bytes(8))};
  EXPECT_EQ(walked(GetParam(), write(GetParam(), items)), expected);
}

TEST_P(PageWriterOf, ALossAfterTheLastRecord) {
  expect_round_trip({record_at(1, bytes(8)), loss(3)});
  expect_round_trip({loss(3)});
  expect_round_trip({record_at(1, bytes(8)), loss(0)});
}

TEST_P(PageWriterOf, AFullPageKeepsRoomForTheLossCount) {
  // Records that fill a page to its last byte unless a number of lost events follows.
  std::vector<Item> items = {loss(9), record_at(1, bytes(room() % 8 == 0 ? 4 : 8))};
  for (std::uint64_t used = 8 + room() % 8; used < room(); used += 8) items.push_back(record_at(1, bytes(4)));
  expect_round_trip(items);
  EXPECT_EQ(write(GetParam(), items).size(), 2u);
  items.erase(items.begin());
  expect_round_trip(items);
  EXPECT_EQ(write(GetParam(), items).size(), 1u);
}

TEST_P(PageWriterOf, TheLongestRecord) {
  const std::size_t longest = (room() - 8) / 4 * 4;
  expect_round_trip({record_at(1, bytes(longest)), record_at(2, bytes(4)), record_at(3, bytes(longest))});
  expect_round_trip({loss(1), record_at(1, bytes(longest))});  // the number of lost events needs space too
  const auto too_long = write(GetParam(), {record_at(1, bytes(4)), record_at(2, bytes(longest + 1)), loss(3),
                                           record_at(4, bytes(longest + 1)), record_at(5, bytes(8))});
  EXPECT_EQ(walked(GetParam(), too_long), (std::vector<Item>{record_at(1, bytes(4)), loss(3), record_at(5, bytes(8))}));
}

TEST_P(PageWriterOf, Nothing) { EXPECT_TRUE(write(GetParam(), {}).empty()); }

TEST_P(PageWriterOf, RandomRecords) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Item> items;
    std::uint64_t ticks = random() >> 8;
    for (unsigned i = 0; i < 2000; ++i) {
      if (random() % 100 == 0 && (items.empty() || !items.back().is_loss)) items.push_back(loss(random() % 1000));
      ticks += random() % 200 == 0 ? random() >> (random() % 40) : random() % 5000;
      items.push_back(record_at(ticks, bytes(4 + 4 * (random() % (random() % 20 == 0 ? 300 : 20)))));
    }
    const Pages pages = write(GetParam(), items);
    ASSERT_EQ(walked(GetParam(), pages), items) << "seed " << seed;
    ASSERT_EQ(of_kbuffer(GetParam(), pages), items) << "seed " << seed;
  }
}

}  // namespace
}  // namespace kmt
