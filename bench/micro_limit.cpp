// SPDX-License-Identifier: GPL-2.0-or-later
// Measures the parts of the work that no analysis of a trace can avoid. bench/analysis computes from them the least
// time that an event must cost, the limit.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "base/varint.hpp"

namespace {

constexpr std::size_t kAhead = 16;   // number of events that are prefetched ahead of the current one
constexpr std::size_t kRows = 1024;  // about the number of groups that matter in a report

// Reads one value of a column. Most values take one byte, as in a recording.
void read_value(benchmark::State& state) {
  constexpr std::size_t kValues = 1 << 16;
  std::vector<std::uint8_t> column;
  for (std::size_t i = 0; i < kValues; ++i)
    kmt::append_varint(column, i * 0x9E3779B1u >> 8 & (i % 4 == 0 ? 0x3FFF : 0x7F));
  for (auto _ : state) {
    const std::uint8_t* at = column.data();
    std::uint64_t sum = 0;
    for (std::uint64_t value = 0; kmt::read_varint(at, column.data() + column.size(), value);) sum += value;
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(kValues));
}
BENCHMARK(read_value);

// Finds an object by its address, and writes its allocation. The table is twice as large as needed, and each access
// touches one cache line.
void find_object(benchmark::State& state) {
  struct Slot {
    std::uint64_t address = 0;
    std::uint64_t allocation = 0;
  };
  const auto live = static_cast<std::size_t>(state.range(0));
  std::vector<Slot> slots(2 * live);
  const auto slot_of = [&](std::size_t number) -> Slot& {
    return slots[(number * 0x9E3779B97F4A7C15ull >> 20) & (slots.size() - 1)];
  };
  std::size_t next = 0;
  for (auto _ : state) {
    __builtin_prefetch(&slot_of(next + kAhead), 1);
    Slot& slot = slot_of(next);
    slot.allocation += slot.address == next ? 1 : 2;
    slot.address = next++;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(find_object)->Arg(1 << 10)->Arg(1 << 16)->Arg(1 << 23);

// Adds an event to the sums of its group: a count, two sizes, and the live bytes with their peak.
void add_to_row(benchmark::State& state) {
  struct alignas(64) Row {
    std::uint64_t events = 0;
    std::uint64_t requested = 0;
    std::uint64_t allocated = 0;
    std::uint64_t live = 0;
    std::uint64_t peak = 0;
  };
  std::vector<Row> rows(kRows);
  std::size_t next = 0;
  for (auto _ : state) {
    Row& row = rows[next * 0x9E3779B97F4A7C15ull >> 54];
    const std::uint64_t bytes = next & 0xFF;
    ++row.events;
    row.requested += bytes;
    row.allocated += bytes + 8;
    row.live += next % 2 == 0 ? bytes : 0;
    if (row.live > row.peak) row.peak = row.live;
    ++next;
  }
  benchmark::DoNotOptimize(rows.data());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(add_to_row);

}  // namespace
