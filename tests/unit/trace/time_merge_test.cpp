// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/time_merge.hpp"

#include <random>

#include <gtest/gtest.h>

namespace kmt {
namespace {

Event at(std::uint64_t time_ns, unsigned cpu, std::uint64_t place) {
  Event event{};
  event.time_ns = time_ns;
  event.cpu = static_cast<std::uint16_t>(cpu);
  event.address = place;
  return event;
}

// A source that returns its events in batches of different sizes.
class ListStream : public CpuStream {
 public:
  explicit ListStream(std::vector<Event> events) : events_(std::move(events)) {}
  bool read(EventBatch& batch) override {
    batch.clear();
    for (std::size_t left = 1 + next_ % 7; left > 0 && next_ < events_.size(); --left)
      batch.push_back(events_[next_++]);
    return !batch.empty();
  }

 private:
  std::vector<Event> events_;
  std::size_t next_ = 0;
};

std::vector<Event> merged(std::vector<std::vector<Event>> cpus) {
  std::vector<std::unique_ptr<CpuStream>> streams;
  for (std::vector<Event>& events : cpus) streams.push_back(std::make_unique<ListStream>(std::move(events)));
  TimeMerge merge(std::move(streams));
  std::vector<Event> all;
  EventBatch batch;
  while (merge.read(batch)) all.insert(all.end(), batch.begin(), batch.end());
  EXPECT_FALSE(merge.read(batch));
  return all;
}

TEST(TimeMerge, OrdersByTimeThenCpuThenPosition) {
  std::mt19937 random(3);
  for (const unsigned cpus : {1u, 2u, 3u, 5u, 16u, 65u}) {
    std::vector<std::vector<Event>> lists(cpus);
    std::vector<Event> expected;
    for (unsigned cpu = 0; cpu < cpus; ++cpu) {
      std::uint64_t time = 0;
      for (unsigned long i = 0, count = random() % 3000; i < count; ++i) {
        time += random() % 4;  // many events have equal times
        lists[cpu].push_back(at(time, cpu, i));
      }
      expected.insert(expected.end(), lists[cpu].begin(), lists[cpu].end());
    }
    std::stable_sort(expected.begin(), expected.end(), [](const Event& a, const Event& b) {
      return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.cpu < b.cpu;
    });
    const std::vector<Event> all = merged(lists);
    ASSERT_EQ(all.size(), expected.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(all[i].time_ns, expected[i].time_ns) << i;
      ASSERT_EQ(all[i].cpu, expected[i].cpu) << i;
      ASSERT_EQ(all[i].address, expected[i].address) << i;
    }
  }
}

// If damage makes the times of a CPU decrease, its events must keep their order, and none may be lost.
TEST(TimeMerge, KeepsTheBufferOrderIfTimeDecreases) {
  const std::vector<Event> all = merged({{at(10, 0, 0), at(5, 0, 1), at(20, 0, 2)}, {at(7, 1, 0), at(12, 1, 1)}});
  std::vector<std::uint64_t> places_of_0;
  for (const Event& event : all)
    if (event.cpu == 0) places_of_0.push_back(event.address);
  EXPECT_EQ(places_of_0, (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(all.size(), 5u);
  EXPECT_EQ(all.front().time_ns, 7u);
}

TEST(TimeMerge, OfNoStreamsIsEmpty) {
  EXPECT_TRUE(merged({}).empty());
  EXPECT_TRUE(merged({{}, {}}).empty());
}

}  // namespace
}  // namespace kmt
