// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/ring_page.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/page_builder.hpp"

namespace kmt {
namespace {

using test::Machine;
using test::PageBuilder;

struct Seen {
  std::uint64_t time;
  std::size_t length;
  std::uint64_t offset;
  bool operator==(const Seen&) const = default;
};

struct Walked {
  std::vector<Seen> records;
  PageEnd end;
};

Walked walk(const std::vector<std::uint8_t>& page, Machine machine) {
  Walked walked;
  const PageLayout layout{machine.order, machine.long_bytes, page.size()};
  walked.end = walk_page(page, layout, [&](std::uint64_t time, Bytes record, std::uint64_t offset) {
    walked.records.push_back({time, record.size(), offset});
  });
  return walked;
}

const std::vector<std::uint8_t> kEight(8, 0xAB);

class OnMachine : public testing::TestWithParam<Machine> {};
INSTANTIATE_TEST_SUITE_P(Page, OnMachine,
                         testing::Values(Machine{ByteOrder::little, 8}, Machine{ByteOrder::little, 4},
                                         Machine{ByteOrder::big, 8}, Machine{ByteOrder::big, 4}));

TEST_P(OnMachine, EveryKindOfRecord) {
  const Machine machine = GetParam();
  const std::uint64_t start = 8 + machine.long_bytes;
  const std::uint64_t far = (std::uint64_t{5} << 27) + 3;
  const std::uint64_t stamp = 0x123456789ABCDEull;
  const auto page = PageBuilder(machine, 1000)
                        .record(0, kEight)
                        .record(7, kEight)
                        .time_extend(far)
                        .record(1, kEight)
                        .long_record(2, std::vector<std::uint8_t>(200, 1))
                        .discarded(3, 12)
                        .record(4, kEight)
                        .time_stamp(stamp)
                        .record(5, kEight)
                        .build();
  const Walked walked = walk(page, machine);
  const std::uint64_t after_far = 1007 + far;
  const std::vector<Seen> expected = {
      {1000, 8, start + 4},
      {1007, 8, start + 16},
      {after_far + 1, 8, start + 12 + 12 + 8 + 4},
      {after_far + 3, 200, start + 44 + 8},
      {after_far + 10, 8, start + 44 + 208 + 20 + 4},  // a discarded record advances the time too
      {stamp + 5, 8, start + 44 + 208 + 20 + 12 + 8 + 4},
  };
  EXPECT_EQ(walked.records, expected);
  EXPECT_EQ(walked.end.damage, nullptr);
  EXPECT_FALSE(walked.end.missed_events);
}

TEST_P(OnMachine, MissedEventsWithAndWithoutTheirNumber) {
  const Machine machine = GetParam();
  const Walked counted = walk(PageBuilder(machine, 1).record(0, kEight).missed_events(204).build(), machine);
  EXPECT_TRUE(counted.end.missed_events);
  EXPECT_EQ(counted.end.missed_count, 204u);
  EXPECT_EQ(counted.records.size(), 1u);
  const Walked uncounted = walk(PageBuilder(machine, 1).record(0, kEight).missed_events({}).build(), machine);
  EXPECT_TRUE(uncounted.end.missed_events);
  EXPECT_EQ(uncounted.end.missed_count, std::nullopt);
}

TEST_P(OnMachine, AnAbsoluteStampKeepsTheTopBitsOfTheTime) {
  const Machine machine = GetParam();
  const std::uint64_t top = 0x17ull << 59;
  const std::uint64_t low = (std::uint64_t{1} << 59) - 10;
  // The stamp has only 59 bits of the time, and they have wrapped around since the page header.
  const Walked walked = walk(PageBuilder(machine, top | low).time_stamp(3).record(0, kEight).build(), machine);
  ASSERT_EQ(walked.records.size(), 1u);
  EXPECT_EQ(walked.records[0].time, top + (std::uint64_t{1} << 59) + 3);
}

// After a crash, pages that had not been written to disk contain only zeros.
TEST_P(OnMachine, APageOfZeroesIsDamage) {
  const Walked walked = walk(std::vector<std::uint8_t>(4096), GetParam());
  ASSERT_NE(walked.end.damage, nullptr);
  EXPECT_NE(std::string(walked.end.damage).find("never written"), std::string::npos);
  EXPECT_TRUE(walked.records.empty());
}

TEST_P(OnMachine, PaddingEndsThePage) {
  const Machine machine = GetParam();
  const Walked walked =
      walk(PageBuilder(machine, 1).record(0, kEight).end_of_page().record(0, kEight).build(), machine);
  EXPECT_EQ(walked.records.size(), 1u);
  EXPECT_EQ(walked.end.damage, nullptr);
}

TEST_P(OnMachine, DamageIsReportedWithItsPositionAndIntactRecordsStay) {
  const Machine machine = GetParam();
  const std::uint64_t second = 8 + machine.long_bytes + 12;
  const auto expect_damage = [&](const std::vector<std::uint8_t>& page, const std::string& word, std::uint64_t offset,
                                 std::size_t kept) {
    const Walked walked = walk(page, machine);
    ASSERT_NE(walked.end.damage, nullptr) << word;
    EXPECT_NE(std::string(walked.end.damage).find(word), std::string::npos) << walked.end.damage;
    EXPECT_EQ(walked.end.damage_offset, offset) << word;
    EXPECT_EQ(walked.records.size(), kept) << word;
  };
  // The record claims 100 bytes, but only 4 follow.
  auto page = PageBuilder(machine, 1).record(0, kEight).header(25, 0).build();
  expect_damage(page, "beyond the page's data", second, 1);
  // The word that contains the length is missing.
  page = PageBuilder(machine, 1).record(0, kEight).header(0, 1).build();
  expect_damage(page, "second word", second, 1);
  // The length is smaller than the minimum.
  page = PageBuilder(machine, 1).record(0, kEight).long_record(0, {}).build();
  test::ByteBuilder zero(machine);
  zero.u32(0);
  std::copy(zero.get().begin(), zero.get().end(), page.begin() + static_cast<std::ptrdiff_t>(second + 4));
  expect_damage(page, "beyond the page's data", second, 1);
  // The page claims more data than fits into it.
  page = PageBuilder(machine, 1).record(0, kEight).build();
  test::ByteBuilder commit(machine);
  commit.word(5000);
  std::copy(commit.get().begin(), commit.get().end(), page.begin() + 8);
  EXPECT_EQ(walk(page, machine).end.damage_offset, 8u);
  EXPECT_GE(walk(page, machine).records.size(), 1u);
}

TEST_P(OnMachine, ATruncatedPageKeepsCompleteRecords) {
  const Machine machine = GetParam();
  const auto page = PageBuilder(machine, 1).record(0, kEight).record(0, kEight).record(0, kEight).build();
  for (std::size_t size = 0; size < 80; ++size) {
    const std::vector<std::uint8_t> cut(page.begin(), page.begin() + static_cast<std::ptrdiff_t>(size));
    const Walked walked = walk(cut, machine);
    const std::size_t data = size > 8 + machine.long_bytes ? size - 8 - machine.long_bytes : 0;
    EXPECT_EQ(walked.records.size(), std::min<std::size_t>(data / 12, 3)) << size;
    if (data < 36) {
      EXPECT_NE(walked.end.damage, nullptr) << size;
    }
  }
}

}  // namespace
}  // namespace kmt
