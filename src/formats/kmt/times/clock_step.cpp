// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/times/clock_step.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace kmt::kmt_format {

namespace {

using Differences = std::span<const std::uint32_t>;

constexpr std::size_t kShortest = 256;   // the search uses only this many differences, the shortest ones
constexpr double kMostForSearch = 4096;  // in ticks; limits the time of the search to some milliseconds
constexpr double kLeastSpread = 8;       // in ticks, between these differences
constexpr double kHighest = 0.5;         // highest frequency for the search, in steps per tick
constexpr double kCandidates = 8;        // candidates for each additional step in the longest of these differences
constexpr double kMostMisfit = 0.12;     // see misfit()
constexpr double kMargin = 0.03;         // misfit that may be due to the distance between candidates

// Returns the mean distance, in steps, of a difference from the nearest multiple of the step. The mean is 0.25 if the
// differences do not depend on the step. The frequency is the number of steps per tick.
double misfit(Differences differences, double frequency) {
  const auto scaled = static_cast<std::uint64_t>(std::ldexp(frequency, 64));  // the top bit is worth half a step
  double sum = 0;
  for (const std::uint64_t difference : differences) {
    const auto distance = static_cast<std::int64_t>(difference * scaled);  // wraps around at each whole step
    sum += std::abs(static_cast<double>(distance));
  }
  return std::ldexp(sum / static_cast<double>(differences.size()), -64);
}

// Returns the frequency that fits best, or 0 if none fits. The search goes upward and requires a margin, because a
// multiple of the frequency may fit as well.
double best_frequency(Differences differences, double first, double distance) {
  double best = 0;
  double best_misfit = kMostMisfit + kMargin;
  for (double frequency = first; frequency <= kHighest; frequency += distance) {
    const double here = misfit(differences, frequency);
    if (here >= best_misfit - kMargin) continue;
    best = frequency;
    best_misfit = here;
  }
  return best;
}

// Returns a more precise frequency: the number of steps in all differences, divided by their ticks.
double mean_frequency(Differences differences, double frequency) {
  double steps = 0;
  double ticks = 0;
  for (const double difference : differences) {
    steps += std::round(difference * frequency);
    ticks += difference;
  }
  return steps / ticks;
}

}  // namespace

std::uint64_t find_clock_step(std::vector<std::uint32_t> differences) {
  if (differences.size() < kStepSample) return 0;
  std::sort(differences.begin(), differences.end());
  const Differences shortest = Differences(differences).first(kShortest);
  double longest = shortest.back();
  const double spread = longest - shortest.front();
  if (longest > kMostForSearch || spread < kLeastSpread) return 0;
  // The spread must be at least two steps. Otherwise, the differences would fit any long step.
  double frequency = best_frequency(shortest, 2 / spread, 1 / (kCandidates * longest));
  if (frequency == 0) return 0;
  // An error of the frequency must not change the number of steps. So each round makes the frequency more precise, and
  // only then uses longer differences.
  for (; longest < differences.back(); longest *= 4) {
    const auto end = std::ranges::upper_bound(differences, longest);
    frequency = mean_frequency({differences.begin(), end}, frequency);
  }
  frequency = mean_frequency(differences, frequency);
  // If most differences are shorter than a step, their mean may be any frequency, also 0.
  if (frequency < 1 / kMostForSearch || frequency >= 1) return 0;
  return misfit(differences, frequency) < kMostMisfit ? static_cast<std::uint64_t>(std::ldexp(1 / frequency, 32)) : 0;
}

}  // namespace kmt::kmt_format
