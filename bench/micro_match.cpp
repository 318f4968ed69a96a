// SPDX-License-Identifier: GPL-2.0-or-later
// Measures the matching of allocations and frees while a fixed number of objects stays live.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "analysis/matching/slab_matcher.hpp"

namespace {

constexpr std::size_t kAhead = 16;  // number of events that are prefetched ahead of the current one

// Addresses like those of slab objects: 64 bytes apart, in an order that is neither sequential nor random.
class Objects {
 public:
  explicit Objects(std::size_t live) : live_(live) {}
  std::uint64_t address(std::size_t number) const {
    return 0xffff888000000000ull + 64 * ((number % live_ * 0x9E3779B1ull) % (4 * live_));
  }

 private:
  std::size_t live_;
};

kmt::Event event(kmt::EventKind kind, std::uint64_t address, std::uint64_t time_ns) {
  kmt::Event made{};
  made.kind = kind;
  made.address = address;
  made.time_ns = time_ns;
  made.bytes_requested = 60;
  made.bytes_allocated = 64;
  made.call_site = {static_cast<std::uint32_t>(address >> 6 & 0xFF)};
  return made;
}

// Frees the oldest object and allocates an object at its address, as SLUB does.
void match_allocations_and_frees(benchmark::State& state) {
  const auto live = static_cast<std::size_t>(state.range(0));
  const Objects objects(live);
  kmt::SlabMatcher matcher;
  for (std::size_t i = 0; i < live; ++i) matcher.allocate(event(kmt::EventKind::kmalloc, objects.address(i), i), 1);
  std::size_t next = 0;
  std::uint64_t matched = 0;
  for (auto _ : state) {
    matcher.prefetch(event(kmt::EventKind::kfree, objects.address(next + kAhead), 0));
    const std::uint64_t address = objects.address(next);
    const auto freed = matcher.release(event(kmt::EventKind::kfree, address, next));
    matched += freed.outcome == kmt::FreeOutcome::matched ? 1 : 0;
    benchmark::DoNotOptimize(matcher.allocate(event(kmt::EventKind::kmalloc, address, next), 1));
    ++next;
  }
  if (matched != next) state.SkipWithError("a free was not matched");
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(match_allocations_and_frees)->Arg(1'000)->Arg(100'000)->Arg(10'000'000);

}  // namespace
