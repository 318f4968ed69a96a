// SPDX-License-Identifier: GPL-2.0-or-later
// Measures the time that a timeline needs per event, to find the bucket and to update one series. Also measures the
// time to compute the trend of a finished series.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "analysis/series/time_series.hpp"
#include "analysis/series/trend.hpp"

namespace {

constexpr std::uint64_t kBetweenEvents = 200;  // ns

// Measures changes of many time series. Objects are freed 16 events after their allocation. Groups take turns in an
// order that is not sequential.
void add_to_time_series(benchmark::State& state) {
  const auto groups = static_cast<std::size_t>(state.range(0));
  std::vector<kmt::TimeSeries> series(groups);
  kmt::TimeBuckets clock(0);
  std::uint64_t time_ns = 0;
  std::size_t group = 0;
  for (auto _ : state) {
    const kmt::TimeBucket at = clock.bucket_of(time_ns);
    series[group].allocate(at, 192);
    series[(group + 16) % groups].release(at, 192);
    time_ns += 2 * kBetweenEvents;
    group = (group + 7919) % groups;
  }
  state.SetItemsProcessed(2 * state.iterations());
}
BENCHMARK(add_to_time_series)->Arg(1)->Arg(1000)->Arg(100000);

void trend_of_a_series(benchmark::State& state) {
  std::vector<double> values;
  std::uint64_t random = 1;
  for (int i = 0; i < state.range(0); ++i) {
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    values.push_back(static_cast<double>(random >> 40));
  }
  for (auto _ : state) benchmark::DoNotOptimize(kmt::trend_of(values, 1));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(trend_of_a_series)->Arg(64)->Arg(512);

}  // namespace
