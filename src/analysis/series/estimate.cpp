// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/series/estimate.hpp"

#include <algorithm>
#include <cmath>

namespace kmt {

namespace {

// 97.5 % quantile of the normal distribution, for 95 % intervals.
constexpr double kNormalQuantile = 1.959963984540054;

// Returns a quantile of the chi-squared distribution. The approximation uses the cube of a normal quantile (Wilson &
// Hilferty 1931). Its error is below 1 % for two or more samples. With fewer samples, the interval becomes too wide.
double chi_squared_quantile(double degrees, double normal) {
  const double spread = 2 / (9 * degrees);
  const double root = 1 - spread + normal * std::sqrt(spread);
  return root <= 0 ? 0 : degrees * root * root * root;
}

}  // namespace

double probability_of(std::uint64_t bytes, std::uint64_t mean_bytes) {
  return -std::expm1(-static_cast<double>(bytes) / static_cast<double>(mean_bytes));
}

Estimate Estimator::estimate(double unseen) const {
  const double largest = std::max(largest_, unseen);
  if (largest <= 0) return {sum_, sum_, sum_};
  const double low = variance_ <= 0
                         ? sum_
                         : variance_ / (2 * sum_) * chi_squared_quantile(2 * sum_ * sum_ / variance_, -kNormalQuantile);
  const double sum = sum_ + largest;
  const double variance = variance_ + largest * largest;
  const double high = variance / (2 * sum) * chi_squared_quantile(2 * sum * sum / variance, kNormalQuantile);
  return {sum_, std::min(low, sum_), std::max(high, sum_)};
}

}  // namespace kmt
