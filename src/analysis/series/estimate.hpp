// SPDX-License-Identifier: GPL-2.0-or-later
// Estimates totals and their uncertainty from samples with known probabilities (Horvitz & Thompson 1952).
#pragma once

#include <cstdint>

#include "results/heap/profile.hpp"

namespace kmt {

// Returns the probability that an allocation of this size is sampled. Sampling is a Poisson process over the allocated
// bytes; `mean_bytes` is the mean distance between two samples.
double probability_of(std::uint64_t bytes, std::uint64_t mean_bytes);

class Estimator {
 public:
  // Adds samples that each stand for `amount` of the estimated quantity (bytes or objects). `probability` is the
  // probability that such a sample was taken.
  void add(std::uint64_t samples, double amount, double probability) {
    if (samples == 0) return;
    const double weighted = amount / probability;
    const double doubt = 1 - probability;
    sum_ += static_cast<double>(samples) * weighted;
    variance_ += static_cast<double>(samples) * weighted * weighted * doubt;
    if (weighted * doubt > largest_) largest_ = weighted * doubt;
  }
  void add(const Estimator& other) {
    sum_ += other.sum_;
    variance_ += other.variance_;
    if (other.largest_ > largest_) largest_ = other.largest_;
  }

  // Returns the estimate with the confidence interval of a weighted sum of Poisson counts (Fay & Feuer 1997,
  // "Confidence intervals for directly standardized rates"). Unlike a normal interval, it is also valid for a handful
  // of samples. `unseen` is the weight of a sample of a kind that was not sampled yet; 0 if there is only one kind.
  Estimate estimate(double unseen = 0) const;
  // Returns the largest uncertain weight of all samples so far. The uncertain weight is the estimate for a sample minus
  // the amount that is certain.
  double largest() const { return largest_; }

 private:
  double sum_ = 0;
  double variance_ = 0;  // unbiased estimate of the variance: Σ amount² (1 - p) / p²
  double largest_ = 0;
};

}  // namespace kmt
