// SPDX-License-Identifier: GPL-2.0-or-later
// Measures how fast ring buffer pages are split into records, without decoding the records.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>

#include "trace/ring_page.hpp"

namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kRecordBytes = 56;  // size of a kmem_cache_alloc record in Linux 6.1

// Returns a full page of records of one size, in the given byte order.
std::array<std::uint8_t, kPageBytes> full_page(kmt::ByteOrder order, std::int64_t& records) {
  std::array<std::uint8_t, kPageBytes> page{};
  kmt::store<std::uint64_t>(page.data(), 1'000'000, order);
  std::size_t at = 16;
  const std::uint32_t words = kRecordBytes / 4;
  const std::uint32_t delta = 200;
  const std::uint32_t header = order == kmt::ByteOrder::little ? words | delta << 5 : words << 27 | delta;
  for (records = 0; at + 4 + kRecordBytes <= kPageBytes; ++records, at += 4 + kRecordBytes)
    kmt::store<std::uint32_t>(page.data() + at, header, order);
  kmt::store<std::uint64_t>(page.data() + 8, at - 16, order);
  return page;
}

void walk_a_page(benchmark::State& state) {
  const auto order = state.range(0) != 0 ? kmt::ByteOrder::big : kmt::ByteOrder::little;
  std::int64_t records = 0;
  const auto page = full_page(order, records);
  for (auto _ : state) {
    std::uint64_t sum = 0;
    const kmt::PageEnd end =
        kmt::walk_page(page, {order, 8, kPageBytes},
                       [&sum](std::uint64_t time, kmt::Bytes record, std::uint64_t) { sum += time + record.size(); });
    benchmark::DoNotOptimize(sum);
    if (end.damage != nullptr) state.SkipWithError(end.damage);
  }
  state.SetItemsProcessed(state.iterations() * records);
}
BENCHMARK(walk_a_page)->ArgName("big_endian")->Arg(0)->Arg(1);

}  // namespace
