// SPDX-License-Identifier: GPL-2.0-or-later
// Measures blocks of .kmt: conversion of a real trace's records to columns and back, with and without compression. The
// trace is from tests/data, or the file in the environment variable KMEMTRACE_BENCH_TRACE. All of its records are kept
// in memory.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "formats/ftrace/event_format.hpp"
#include "formats/kmt/block_encoder.hpp"
#include "formats/kmt/block_reader.hpp"
#include "formats/kmt/chunk.hpp"
#include "formats/kmt/packed_block.hpp"
#include "formats/record_stream.hpp"

namespace {

using namespace kmt;
using namespace kmt::kmt_format;

// Copies records one after the other into one block of memory, as they are in ring buffer pages.
class RecordedTrace : public RecordSink {
 public:
  struct Record {
    std::uint64_t ticks = 0;
    std::size_t at = 0;
    std::size_t size = 0;
  };

  RecordedTrace() {
    const char* const chosen = std::getenv("KMEMTRACE_BENCH_TRACE");
    TraceFile file{chosen != nullptr ? chosen : KMEMTRACE_DATA "/amd64/trace.dat", {}, {}};
    file.mapping = std::make_shared<const MappedFile>(file.path);
    file.bytes = file.mapping->bytes();
    Findings findings;
    read_records(file, {}, *this, findings);
  }

  void describe(const TraceDescription& description) override {
    Findings findings;
    order_ = description.kernel.byte_order;
    layouts_ = std::make_unique<RecordLayouts>(parse_event_formats(description.kernel.formats, findings), order_);
  }
  void begin_stream(const RecordStream&) override { streams_.emplace_back(); }
  void record(std::uint64_t ticks, Bytes record) override {
    streams_.back().push_back({ticks, bytes_.size(), record.size()});
    bytes_.insert(bytes_.end(), record.begin(), record.end());
    ++events_;
  }
  void lost(std::optional<std::uint64_t>) override {}
  void end_stream() override {}

  ByteOrder order() const { return order_; }
  std::int64_t events() const { return events_; }

  // Encodes the records. Passes each finished block to take().
  template <typename Taker>
  void encode(Taker&& take) const {
    BlockEncoder encoder(*layouts_);
    for (const std::vector<Record>& stream : streams_) {
      for (const Record& record : stream) {
        encoder.add(record.ticks, Bytes(bytes_).subspan(record.at, record.size));
        if (is_full(encoder)) take(encoder.finish());
      }
      if (!encoder.empty()) take(encoder.finish());
    }
  }

 private:
  ByteOrder order_ = ByteOrder::little;
  std::unique_ptr<RecordLayouts> layouts_;
  std::vector<std::vector<Record>> streams_;
  std::vector<std::uint8_t> bytes_;
  std::int64_t events_ = 0;
};

const RecordedTrace& trace() {
  static const RecordedTrace recorded;
  return recorded;
}

void encode_blocks(benchmark::State& state) {
  const bool packed = state.range(0) != 0;
  std::size_t size = 0;
  for (auto _ : state) {
    size = 0;
    trace().encode(
        [&](const EventBlock& block) { size += packed ? pack(0, block).chunk.bytes.size() : block.bytes.size(); });
    benchmark::DoNotOptimize(size);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * trace().events());
  state.counters["bytes_an_event"] = static_cast<double>(size) / static_cast<double>(trace().events());
}
BENCHMARK(encode_blocks)->ArgName("packed")->Arg(0)->Arg(1);

// Unpacks blocks without reading their columns: zstd and the checksum.
void unpack_blocks(benchmark::State& state) {
  std::vector<std::vector<std::uint8_t>> blocks;
  trace().encode([&](const EventBlock& block) { blocks.push_back(pack(0, block).chunk.bytes); });
  for (auto _ : state)
    for (const std::vector<std::uint8_t>& block : blocks) benchmark::DoNotOptimize(unpack(*chunk_at(block, 0)).data());
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * trace().events());
}
BENCHMARK(unpack_blocks);

void decode_blocks(benchmark::State& state) {
  const bool packed = state.range(0) != 0;
  std::vector<std::vector<std::uint8_t>> blocks;
  trace().encode([&](const EventBlock& block) { blocks.push_back(packed ? pack(0, block).chunk.bytes : block.bytes); });
  for (auto _ : state) {
    std::uint64_t sum = 0;
    for (const std::vector<std::uint8_t>& block : blocks) {
      std::vector<std::uint8_t> unpacked;
      if (packed) unpacked = unpack(*chunk_at(block, 0));
      BlockReader reader(packed ? unpacked : block, trace().order());
      for (BlockEvent event; reader.next(event);) sum += event.ticks + event.address;
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * trace().events());
}
BENCHMARK(decode_blocks)->ArgName("packed")->Arg(0)->Arg(1);

}  // namespace
