// SPDX-License-Identifier: GPL-2.0-or-later
// Measures FlatMap as the pointer table of a report: objects are allocated and freed while a fixed number stays live.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/flat_map.hpp"

namespace {

// Returns addresses like those of slab objects: 64 bytes apart, in an order that is neither sequential nor random.
std::vector<std::uint64_t> addresses(std::size_t count) {
  std::vector<std::uint64_t> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = 0xffff888000000000ull + 64 * ((i * 0x9E3779B1ull) % (4 * count));
  return out;
}

void allocate_and_free_in_flat_map(benchmark::State& state) {
  const std::vector<std::uint64_t> objects = addresses(static_cast<std::size_t>(state.range(0)));
  kmt::FlatMap<std::uint64_t> live;
  for (const std::uint64_t object : objects) *live.insert(object).first = object;
  std::size_t next = 0;
  for (auto _ : state) {
    live.erase(objects[next]);
    *live.insert(objects[next]).first = next;
    next = next + 1 == objects.size() ? 0 : next + 1;
  }
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(allocate_and_free_in_flat_map)->Range(1 << 10, 1 << 22);

void allocate_and_free_in_unordered_map(benchmark::State& state) {
  const std::vector<std::uint64_t> objects = addresses(static_cast<std::size_t>(state.range(0)));
  std::unordered_map<std::uint64_t, std::uint64_t> live;
  for (const std::uint64_t object : objects) live[object] = object;
  std::size_t next = 0;
  for (auto _ : state) {
    live.erase(objects[next]);
    live[objects[next]] = next;
    next = next + 1 == objects.size() ? 0 : next + 1;
  }
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(allocate_and_free_in_unordered_map)->Range(1 << 10, 1 << 22);

}  // namespace
