// SPDX-License-Identifier: GPL-2.0-or-later
// Totals from samples that were drawn with known probabilities (Horvitz & Thompson 1952), and how far they may be off.
#pragma once

#include <cstdint>

#include "results/heap/profile.hpp"

namespace kmt {

// The probability that an allocation of that many bytes is drawn by a Poisson process along the bytes.
double probability_of(std::uint64_t bytes, std::uint64_t mean_bytes);

class Estimator {
 public:
  // Samples that stand for `amount` each of what is estimated.
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

  // The interval is that of a weighted sum of Poisson counts (Fay & Feuer 1997, "Confidence intervals for directly
  // standardized rates"), which holds for a handful of samples too, where a normal one does not. `unseen`: what one
  // sample of a kind that was not drawn yet may stand for; 0 where all are of one kind.
  Estimate estimate(double unseen = 0) const;
  // The most that one of the samples so far stands for, less what is sure of it.
  double largest() const { return largest_; }

 private:
  double sum_ = 0;
  double variance_ = 0;  // Σ amount² (1 - p) / p², unbiased
  double largest_ = 0;
};

}  // namespace kmt
