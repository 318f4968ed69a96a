// SPDX-License-Identifier: GPL-2.0-or-later
// Measures merging the events of several CPUs by time. `run` is the number of consecutive events from one CPU before
// another CPU's event is earlier.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "trace/time_merge.hpp"

namespace {

class Generated : public kmt::CpuStream {
 public:
  Generated(unsigned cpu, unsigned cpus, unsigned run, std::uint64_t events)
      : cpu_(cpu), cpus_(cpus), run_(run), left_(events) {}

  bool read(kmt::EventBatch& batch) override {
    batch.clear();
    for (; left_ > 0 && batch.size() < kPageOfEvents; --left_, ++made_) {
      kmt::Event event{};
      event.cpu = static_cast<std::uint16_t>(cpu_);
      event.time_ns = (made_ / run_ * cpus_ + cpu_) * run_ + made_ % run_;
      batch.push_back(event);
    }
    return !batch.empty();
  }

 private:
  static constexpr std::size_t kPageOfEvents = 70;
  unsigned cpu_;
  unsigned cpus_;
  unsigned run_;
  std::uint64_t left_;
  std::uint64_t made_ = 0;
};

void merge(benchmark::State& state) {
  constexpr std::uint64_t kEvents = 1 << 18;
  const auto cpus = static_cast<unsigned>(state.range(0));
  const auto run = static_cast<unsigned>(state.range(1));
  for (auto _ : state) {
    std::vector<std::unique_ptr<kmt::CpuStream>> streams;
    for (unsigned cpu = 0; cpu < cpus; ++cpu)
      streams.push_back(std::make_unique<Generated>(cpu, cpus, run, kEvents / cpus));
    kmt::TimeMerge merge(std::move(streams));
    std::uint64_t events = 0;
    for (kmt::EventBatch batch; merge.read(batch);) events += batch.size();
    if (events != kEvents) state.SkipWithError("events are missing");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kEvents));
}
BENCHMARK(merge)->ArgNames({"cpus", "run"})->ArgsProduct({{1, 2, 16, 256}, {1, 32}});

}  // namespace
