// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/series/trend.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "results/series/thresholds.hpp"

namespace kmt {

namespace {

constexpr std::size_t kBlocks = 16;
static_assert(Trend::kFewestValues == kBlocks);

struct Quantile {
  double share;  // share of random walks whose tau is at most `tau`
  double tau;
};

// Distribution of Kendall's tau of the medians of 16 blocks, measured with 400,000 random walks of 512 Gaussian steps.
// For walks of 16 to 64 steps, tau is at most 0.04 smaller. tests/unit/trend_test.cpp repeats the measurement.
constexpr std::array<Quantile, 11> kTauOfWalk = {{{0.5, 0},
                                                  {0.6, 0.2},
                                                  {0.7, 0.4},
                                                  {0.8, 0.5667},
                                                  {0.9, 0.7167},
                                                  {0.95, 0.8167},
                                                  {0.975, 0.8667},
                                                  {0.99, 0.9167},
                                                  {0.995, 0.9333},
                                                  {0.999, 0.9667},
                                                  {0.9995, 1}}};
// 95 % of random walks have a tau whose absolute value is at most this number.
constexpr double kTauOf95Percent = 0.8667;

struct Block {
  double middle;  // position of the block's middle in the series of values
  double median;
};

// Returns the median of at least one value. Changes the order of the values.
double median_of(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return std::midpoint(*std::max_element(values.begin(), middle), *middle);
}

// Returns at most kBlocks blocks with at least one value each.
std::vector<Block> blocks_of(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  const std::size_t count = std::min(kBlocks, copy.size());
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = i * copy.size() / count;
    const std::size_t end = (i + 1) * copy.size() / count;
    blocks.push_back(
        {static_cast<double>(begin + end - 1) / 2, median_of(std::span(copy).subspan(begin, end - begin))});
  }
  return blocks;
}

struct Slopes {
  double tau = 0;
  // Slopes between all pairs of blocks, in ascending order. The unit of time is the interval between adjacent values.
  std::vector<double> sorted;

  // Returns a quantile of the slopes: 0 is the smallest, 1 the greatest.
  double at(double share) const {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], place - std::floor(place));
  }
};

// Computes the slopes between all pairs of at least two blocks.
Slopes slopes_of(std::span<const double> values) {
  const std::vector<Block> blocks = blocks_of(values);
  Slopes slopes;
  int rising = 0;
  for (auto one = blocks.begin(); one != blocks.end(); ++one)
    for (auto later = one + 1; later != blocks.end(); ++later) {
      const double rise = later->median - one->median;
      rising += (rise > 0 ? 1 : 0) - (rise < 0 ? 1 : 0);
      slopes.sorted.push_back(rise / (later->middle - one->middle));
    }
  slopes.tau = static_cast<double>(rising) / static_cast<double>(slopes.sorted.size());
  std::sort(slopes.sorted.begin(), slopes.sorted.end());
  return slopes;
}

double confidence_of(double tau) {
  const bool falls = tau < 0;
  const double size = std::abs(tau);
  std::size_t above = 1;
  while (above + 1 < kTauOfWalk.size() && kTauOfWalk[above].tau < size) ++above;
  const Quantile& low = kTauOfWalk[above - 1];
  const Quantile& high = kTauOfWalk[above];
  const double share = std::lerp(low.share, high.share, (size - low.tau) / (high.tau - low.tau));
  return falls ? 1 - share : share;
}

// Returns the probability that Student's t with 15 degrees of freedom is less than `t` (Abramowitz & Stegun 26.7.3).
double share_below_t(double t) {
  constexpr int kFreedom = kBlocks - 1;
  const double angle = std::atan(t / std::sqrt(kFreedom));
  const double cosine = std::cos(angle);
  double term = cosine;
  double sum = term;
  for (int i = 3; i <= kFreedom - 2; i += 2) sum += term *= cosine * cosine * (i - 1) / i;
  return 0.5 + (angle + std::sin(angle) * sum) / std::numbers::pi;
}

// Returns the evenness of the rise (see trend.hpp) by Student's t. Needs at least two values.
double evenness_of(std::span<const double> values) {
  std::array<double, kBlocks> rises;
  const auto value_at = [values](std::size_t edge) { return values[edge * (values.size() - 1) / kBlocks]; };
  for (std::size_t i = 0; i < kBlocks; ++i) rises[i] = value_at(i + 1) - value_at(i);
  const double mean = std::accumulate(rises.begin(), rises.end(), 0.0) / kBlocks;
  double squares = 0;
  for (const double rise : rises) squares += (rise - mean) * (rise - mean);
  if (mean == 0) return 0.5;
  return share_below_t(mean / std::sqrt(squares / (kBlocks - 1) / kBlocks));  // t is infinite if all rises are equal
}

}  // namespace

Trend trend_of(std::span<const double> values, double seconds_between) {
  Trend trend;
  if (values.size() < Trend::kFewestValues) return trend;
  const Slopes slopes = slopes_of(values);
  trend.bytes_per_s = slopes.at(0.5) / seconds_between;
  trend.low = slopes.at((1 - kTauOf95Percent) / 2) / seconds_between;
  trend.high = slopes.at((1 + kTauOf95Percent) / 2) / seconds_between;
  const Slopes late = slopes_of(values.subspan(values.size() / 2));
  trend.late_bytes_per_s = late.at(0.5) / seconds_between;
  trend.late_high = late.at((1 + kTauOf95Percent) / 2) / seconds_between;
  trend.confidence = confidence_of(slopes.tau);
  trend.evenness = evenness_of(values);
  if (trend.confidence < kThresholds.confidence)
    trend.growth = Growth::none;
  else
    trend.growth = trend.late_bytes_per_s < trend.bytes_per_s / 2 ? Growth::past : Growth::steady;
  return trend;
}

double needed_evenness(std::size_t judged) {
  return 1 - (1 - kThresholds.confidence) / static_cast<double>(std::max<std::size_t>(judged, 1));
}

std::size_t equal_steps(std::span<const double> values) {
  if (values.size() < Trend::kFewestValues) return 0;
  const double rise = values.back() - values.front();
  const double noise = kThresholds.noise_between_steps * rise;
  if (rise <= 0) return 0;
  std::vector<double> steps;
  std::size_t rising = 0;     // number of intervals that form a step
  std::size_t last_step = 0;  // index of the end of the last step
  // Longest distance, in intervals, between the ends of two steps or from the start to the first step.
  std::size_t longest_gap = 0;
  double level = values.front();
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] < level - noise) return 0;
    if (values[i] <= level + noise) continue;
    const double before = level;
    ++rising;
    for (; i + 1 < values.size() && values[i + 1] > values[i]; ++i) ++rising;
    level = values[i];
    steps.push_back(level - before);
    longest_gap = std::max(longest_gap, i - last_step);
    last_step = i;
  }
  if (steps.size() < kThresholds.fewest_steps || 2 * rising > values.size()) return 0;
  const auto [least, most] = std::ranges::minmax(steps);
  const bool goes_on = values.size() - 1 - last_step <= longest_gap + longest_gap / 2;
  return goes_on && least >= kThresholds.least_of_largest_step * most ? steps.size() : 0;
}

bool rises_above(const Trend& trend, double bytes_per_s) {
  return trend.growth == Growth::steady && trend.low > bytes_per_s && trend.late_bytes_per_s > bytes_per_s;
}

}  // namespace kmt
