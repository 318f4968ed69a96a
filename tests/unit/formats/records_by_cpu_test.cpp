// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/records_by_cpu.hpp"

#include <gtest/gtest.h>

#include "support/checked_sink.hpp"

namespace kmt {
namespace {

using Items = std::vector<std::pair<std::uint64_t, std::vector<std::uint8_t>>>;

class Collected : public test::CheckedSink {
 public:
  void begin_stream(const RecordStream& stream) override {
    CheckedSink::begin_stream(stream);
    page_bytes = stream.page_bytes;
    cpu = stream.cpu;
    ++pieces;
  }
  void record(std::uint64_t ticks, Bytes record) override {
    CheckedSink::record(ticks, record);
    of_cpu[cpu].emplace_back(ticks, std::vector<std::uint8_t>(record.begin(), record.end()));
  }
  void lost(std::optional<std::uint64_t> count) override {
    CheckedSink::lost(count);
    of_cpu[cpu].emplace_back(count.value_or(~std::uint64_t{0}), std::vector<std::uint8_t>());
  }

  std::map<unsigned, Items> of_cpu;
  std::uint32_t page_bytes = 0;
  unsigned cpu = 0;
  unsigned pieces = 0;
};

TEST(RecordsByCpu, EachCpuKeepsItsOrder) {
  Collected sink;
  sink.describe({});
  RecordsByCpu by_cpu(sink, 4096);
  const std::vector<std::uint8_t> a = {1, 2, 3}, b = {4};
  by_cpu.record(7, 10, a);
  by_cpu.lost(2, std::nullopt);
  by_cpu.lost(7, 5);
  by_cpu.record(2, 11, b);
  by_cpu.record(7, 12, b);
  EXPECT_EQ(sink.pieces, 0u);
  by_cpu.finish();
  sink.expect_ended();
  EXPECT_EQ(sink.pieces, 2u);
  EXPECT_EQ(sink.page_bytes, 4096u);
  EXPECT_EQ(sink.of_cpu[2], (Items{{~std::uint64_t{0}, {}}, {11, b}}));
  EXPECT_EQ(sink.of_cpu[7], (Items{{10, a}, {5, {}}, {12, b}}));
  by_cpu.finish();  // has no effect, because no records are left
  EXPECT_EQ(sink.pieces, 2u);
}

TEST(RecordsByCpu, MemoryIsBoundedForOneCpuAndForMany) {
  const std::vector<std::uint8_t> record(60'000);
  for (const unsigned cpus : {1u, 3000u}) {
    test::CheckedSink sink;
    sink.describe({});
    RecordsByCpu by_cpu(sink, 4096);
    for (std::uint64_t time = 0; time < 3000; ++time) by_cpu.record(static_cast<unsigned>(time % cpus), time, record);
    EXPECT_GT(sink.records, 1000u);  // most of the 180 MB must have been passed on before the end
    by_cpu.finish();
    sink.expect_ended();
    EXPECT_EQ(sink.records, 3000u);
  }
}

}  // namespace
}  // namespace kmt
