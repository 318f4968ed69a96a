// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/series/trend.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <vector>

#include "results/series/thresholds.hpp"

namespace kmt {
namespace {

constexpr double kSeconds = 0.25;  // seconds between two values

// Returns normally distributed numbers, by the Box-Muller method. std::normal_distribution would give different numbers
// with each library.
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : random_(seed) {}
  double operator()() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) / 9007199254740992.0; }

 private:
  std::mt19937_64 random_;
};

std::vector<double> series(std::size_t count, const std::function<double(double)>& value_of) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(value_of(static_cast<double>(i)));
  return values;
}

std::vector<double> random_walk(std::size_t count, RandomNumbers& noise, double drift = 0) {
  double value = 0;
  return series(count, [&](double) { return value += noise() + drift; });
}

TEST(Trend, LinearLeakInNoise) {
  RandomNumbers noise(1);
  const Trend trend = trend_of(series(512, [&](double i) { return 100 * i + 2000 * noise(); }), kSeconds);
  EXPECT_EQ(trend.growth, Growth::steady);
  EXPECT_NEAR(trend.bytes_per_s, 400, 10);
  EXPECT_LT(trend.low, 400);
  EXPECT_GT(trend.high, 400);
  EXPECT_NEAR(trend.late_bytes_per_s, 400, 40);
  EXPECT_GT(trend.confidence, 0.99);
}

TEST(Trend, CountsStepsOfSimilarSize) {
  const auto staircase = [](double i) { return 1000 * std::floor(i / 40); };
  EXPECT_EQ(equal_steps(series(130, staircase)), 3u);
  EXPECT_EQ(trend_of(series(130, staircase), kSeconds).growth, Growth::none);
  RandomNumbers noise(1);
  EXPECT_EQ(equal_steps(series(130, [&](double i) { return staircase(i) + 5 * noise(); })), 3u);
  EXPECT_EQ(equal_steps(series(130, [&](double i) { return staircase(i - 3) + 300 * std::min(i, 1.0); })), 0u)
      << "a first step that is too small";
  EXPECT_EQ(equal_steps(series(100, staircase)), 0u) << "only two steps";
  EXPECT_EQ(equal_steps(series(400, [&](double i) { return staircase(std::min(i, 130.0)); })), 0u) << "it stopped";
  EXPECT_EQ(equal_steps(series(130, [](double i) { return i; })), 0u) << "steady growth";
  EXPECT_EQ(equal_steps(series(130, [&](double i) { return staircase(i) - (i == 50 ? 900 : 0); })), 0u) << "falls";
  for (int i = 0; i < 100; ++i) EXPECT_EQ(equal_steps(random_walk(512, noise)), 0u);
}

TEST(Trend, SlopeOfALineIsExact) {
  for (const std::size_t count : {16u, 17u, 31u, 32u, 100u, 511u}) {
    const Trend trend = trend_of(series(count, [](double i) { return 1e9 + 3 * i; }), kSeconds);
    EXPECT_EQ(trend.growth, Growth::steady) << count;
    EXPECT_NEAR(trend.bytes_per_s, 12, 1e-5) << count;
    EXPECT_NEAR(trend.low, 12, 1e-5) << count;
    EXPECT_NEAR(trend.high, 12, 1e-5) << count;
    EXPECT_NEAR(trend.late_bytes_per_s, 12, 1e-5) << count;
  }
  const Trend falling = trend_of(series(64, [](double i) { return 1e9 - 3 * i; }), kSeconds);
  EXPECT_EQ(falling.growth, Growth::none);
  EXPECT_NEAR(falling.bytes_per_s, -12, 1e-5);
  EXPECT_LT(falling.confidence, 0.001);
}

TEST(Trend, AFewOutliersDoNotMoveTheSlope) {
  const Trend trend = trend_of(series(512, [](double i) { return 10 * i + (i == 500 || i == 3 ? 1e6 : 0); }), kSeconds);
  EXPECT_NEAR(trend.bytes_per_s, 40, 4);
  EXPECT_EQ(trend.growth, Growth::steady);
}

TEST(Trend, SawtoothDoesNotGrowAndMayHideInGrowth) {
  const auto tooth = [](double i) { return std::fmod(i, 40) * 1000; };
  EXPECT_EQ(trend_of(series(512, tooth), kSeconds).growth, Growth::none);
  const Trend leaking = trend_of(series(512, [&](double i) { return tooth(i) + 200 * i; }), kSeconds);
  EXPECT_EQ(leaking.growth, Growth::steady);
  EXPECT_NEAR(leaking.bytes_per_s, 800, 80);
}

TEST(Trend, ACacheThatFillsDoesNotGrowSteadily) {
  RandomNumbers noise(2);
  const auto exponential = series(512, [&](double i) { return 1e6 * (1 - std::exp(-i / 100)) + 100 * noise(); });
  EXPECT_EQ(trend_of(exponential, kSeconds).growth, Growth::past);
  const Trend linear = trend_of(series(512, [](double i) { return std::min(i, 256.0) * 100; }), kSeconds);
  EXPECT_NE(linear.growth, Growth::steady);
  EXPECT_EQ(linear.late_bytes_per_s, 0);
  EXPECT_NEAR(trend_of(series(512, [](double i) { return std::min(i, 128.0); }), kSeconds).late_bytes_per_s, 0, 1e-9);
}

TEST(Trend, SeveralStepsGrowAndASingleStepDoesNot) {
  const auto steps = [](double count) {
    return trend_of(series(512, [count](double i) { return std::floor(i * (count + 1) / 512) * 1e6; }), kSeconds);
  };
  EXPECT_EQ(steps(0).growth, Growth::none);
  EXPECT_EQ(steps(0).confidence, 0.5);
  EXPECT_EQ(steps(1).growth, Growth::none);
  EXPECT_EQ(steps(2).growth, Growth::none);
  EXPECT_EQ(steps(8).growth, Growth::steady);
  EXPECT_EQ(steps(15).growth, Growth::steady);
}

TEST(Trend, TooFewValuesAreNotJudged) {
  EXPECT_EQ(trend_of({}, kSeconds).growth, Growth::too_few_points);
  const auto line = series(15, [](double i) { return i; });
  EXPECT_EQ(trend_of(line, kSeconds).growth, Growth::too_few_points);
  EXPECT_EQ(trend_of(line, kSeconds).confidence, 0);
}

// At a confidence of 95 %, about 50 of 1000 random walks are judged as growing. The tolerance of 21 is three standard
// deviations.
TEST(Trend, FalsePositivesOfRandomWalksMatchTheLevel) {
  for (const std::size_t count : {512u, 100u, 16u}) {
    RandomNumbers noise(count);
    int growing = 0;
    for (int run = 0; run < 1000; ++run)
      growing += trend_of(random_walk(count, noise), kSeconds).confidence >= kThresholds.confidence ? 1 : 0;
    EXPECT_GE(growing, 25) << count;
    EXPECT_LE(growing, 71) << count;
  }
}

// Few objects are allocated and freed, with sizes of very different magnitudes.
TEST(Trend, UnequalStepsGiveNoMoreFalsePositives) {
  for (const double busy : {1.0, 0.1, 0.02}) {
    RandomNumbers noise(11);
    int growing = 0;
    for (int run = 0; run < 1000; ++run) {
      double value = 0;
      const auto values = series(512, [&](double) {
        const double step = noise();
        return value += noise.uniform() < busy ? step * step * step : 0;
      });
      growing += trend_of(values, kSeconds).confidence >= kThresholds.confidence ? 1 : 0;
    }
    EXPECT_LE(growing, 71) << busy;
  }
}

// Random walks do not grow, so their confidence must be uniformly distributed: below each level, the share of walks is
// that level.
TEST(Trend, ConfidenceOfRandomWalksIsRight) {
  constexpr int kRuns = 4000;
  std::vector<double> confidences;
  RandomNumbers noise(3);
  for (int run = 0; run < kRuns; ++run) confidences.push_back(trend_of(random_walk(512, noise), kSeconds).confidence);
  for (const double level : {0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99}) {
    const auto below = std::count_if(confidences.begin(), confidences.end(),
                                     [level](double confidence) { return confidence < level; });
    const double deviation = std::sqrt(level * (1 - level) / kRuns);
    EXPECT_NEAR(static_cast<double>(below) / kRuns, level, 4 * deviation + 0.01) << level;
  }
}

// If there are thousands of groups, only growth with a very small p-value counts, so small p-values must be right. The
// steps of the walks are normally distributed, of one size, or of very different sizes.
TEST(Trend, EvennessOfRandomWalksIsRight) {
  constexpr int kRuns = 10'000;
  for (const int steps : {0, 1, 2}) {
    RandomNumbers noise(12);
    int above_99_percent = 0;
    int above_999_permille = 0;
    for (int run = 0; run < kRuns; ++run) {
      double value = 0;
      const auto values = series(64, [&](double) {
        const double step = noise();
        return value += steps == 0 ? step : steps == 1 ? std::copysign(1, step) : step * step * step;
      });
      const double evenness = trend_of(values, kSeconds).evenness;
      above_99_percent += evenness > 0.99 ? 1 : 0;
      above_999_permille += evenness > 0.999 ? 1 : 0;
    }
    // About 100 and 10 are expected. The limits are four standard deviations away.
    EXPECT_LE(above_99_percent, 100 + 40) << steps;
    EXPECT_LE(above_999_permille, 10 + 13) << steps;
    if (steps == 0) {
      EXPECT_GE(above_99_percent, 100 - 40);
      EXPECT_GE(above_999_permille, 1);
    }
  }
}

// Quantiles of Student's t distribution with 15 degrees of freedom, from published tables. Half of the rises are m + 1,
// half are m - 1.
TEST(Trend, EvennessIsStudentsT) {
  for (const auto& [t, share] : {std::pair(1.753, 0.95), {2.602, 0.99}, {3.733, 0.999}, {4.073, 0.9995}}) {
    const double mean = t * std::sqrt(16.0 / 15) / 4;
    double value = 0;
    const auto values =
        series(17, [&](double i) { return i == 0 ? 0 : value += mean + (std::fmod(i, 2) == 0 ? 1 : -1); });
    EXPECT_NEAR(trend_of(values, kSeconds).evenness, share, 0.00005) << t;
  }
}

// Objects are allocated at random times and live for a limited time, so the number of live objects returns to a mean.
TEST(Trend, RarelyClassifiesChurnAsGrowth) {
  RandomNumbers noise(4);
  int growing = 0;
  for (int run = 0; run < 1000; ++run) {
    double value = 0;
    const auto values = series(512, [&](double) { return value = 0.9 * value + noise(); });
    growing += trend_of(values, kSeconds).confidence >= kThresholds.confidence ? 1 : 0;
  }
  EXPECT_LE(growing, 10);
}

TEST(Trend, IntervalContainsTheTrueSlope) {
  RandomNumbers noise(5);
  int missed = 0;
  for (int run = 0; run < 1000; ++run) {
    const Trend trend = trend_of(random_walk(512, noise, 0.1), kSeconds);
    missed += trend.low > 0.1 / kSeconds || trend.high < 0.1 / kSeconds ? 1 : 0;
  }
  EXPECT_LE(missed, 71);
  EXPECT_GE(missed, 5);  // intervals that are too wide would always contain the true value
}

TEST(Trend, FindsALeakInARandomWalk) {
  RandomNumbers noise(6);
  int steady = 0;
  for (int run = 0; run < 100; ++run)
    steady += trend_of(random_walk(512, noise, 0.25), kSeconds).growth == Growth::steady ? 1 : 0;
  EXPECT_GE(steady, 90);
}

}  // namespace
}  // namespace kmt
