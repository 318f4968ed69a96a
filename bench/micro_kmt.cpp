// SPDX-License-Identifier: GPL-2.0-or-later
// Blocks of .kmt: records into columns and back, without and with packing.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <vector>

#include "formats/kmt/block_encoder.hpp"
#include "formats/kmt/block_reader.hpp"
#include "formats/kmt/chunk.hpp"

namespace {

using namespace kmt;
using namespace kmt::kmt_format;

constexpr std::size_t kBlockEvents = 65536;
constexpr std::size_t kRecordBytes = 56;  // kmem_cache_alloc of Linux 6.1

RecordLayouts layouts() {
  EventFormat format{1, "kmem", "kmalloc", {}};
  format.fields = {{"common_type", 0, 2}, {"common_rest", 2, 2}, {"common_pid", 4, 4, true},
                   {"call_site", 8, 8},   {"ptr", 16, 8},        {"others", 24, 32}};
  return RecordLayouts({format}, ByteOrder::little);
}

// Call sites and objects as a mixed load has them: most call sites rare, most objects among those used lately.
std::vector<std::uint8_t> records() {
  std::mt19937_64 random(1);
  std::geometric_distribution<std::uint64_t> site(0.02);
  std::geometric_distribution<std::uint64_t> object(0.05);
  std::vector<std::uint8_t> bytes(kBlockEvents * kRecordBytes);
  for (std::size_t i = 0; i < kBlockEvents; ++i) {
    std::uint8_t* const record = bytes.data() + i * kRecordBytes;
    store<std::uint16_t>(record, 1, ByteOrder::little);
    store<std::uint32_t>(record + 4, static_cast<std::uint32_t>(100 + i / 500), ByteOrder::little);
    const std::uint64_t number = site(random);
    store<std::uint64_t>(record + 8, 0xFFFFFFFF81000000 + number * 16, ByteOrder::little);
    store<std::uint64_t>(record + 16, 0xFFFF888012340000 + (i / 64 + object(random)) * 64, ByteOrder::little);
    store<std::uint64_t>(record + 24, number * 8, ByteOrder::little);
  }
  return bytes;
}

EventBlock encode(BlockEncoder& encoder, const std::vector<std::uint8_t>& bytes) {
  for (std::size_t i = 0; i < kBlockEvents; ++i)
    encoder.add(i * 300, Bytes(bytes).subspan(i * kRecordBytes, kRecordBytes));
  return encoder.finish();
}

void encode_a_block(benchmark::State& state) {
  const RecordLayouts known = layouts();
  const std::vector<std::uint8_t> bytes = records();
  BlockEncoder encoder(known);
  std::size_t size = 0;
  for (auto _ : state) {
    const EventBlock block = encode(encoder, bytes);
    size = state.range(0) != 0 ? make_chunk(ChunkType::kEvents, 0, block.bytes).size() : block.bytes.size();
    benchmark::DoNotOptimize(size);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBlockEvents));
  state.counters["bytes_an_event"] = static_cast<double>(size) / static_cast<double>(kBlockEvents);
}
BENCHMARK(encode_a_block)->ArgName("packed")->Arg(0)->Arg(1);

void decode_a_block(benchmark::State& state) {
  const RecordLayouts known = layouts();
  BlockEncoder encoder(known);
  const EventBlock block = encode(encoder, records());
  const std::vector<std::uint8_t> packed = make_chunk(ChunkType::kEvents, 0, block.bytes);
  for (auto _ : state) {
    const std::vector<std::uint8_t> plain = state.range(0) != 0 ? unpack(*chunk_at(packed, 0)) : block.bytes;
    BlockReader reader(plain, ByteOrder::little);
    std::uint64_t sum = 0;
    for (BlockEvent event; reader.next(event);) sum += event.ticks + event.address;
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBlockEvents));
}
BENCHMARK(decode_a_block)->ArgName("packed")->Arg(0)->Arg(1);

}  // namespace
