// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate/program_costs.hpp"

#include "base/error.hpp"

namespace kmt {

namespace {

constexpr double kMeasured = 0.15;  // duration in seconds of one measurement
constexpr double kNotMeasured = 2;  // pause in seconds between two measurements

}  // namespace

void ProgramCosts::end_measuring(double now, const InvestigationSamples& samples) {
  const double measured = now - clock_begin_;
  const double ns = static_cast<double>(samples.runs().ns - runs_begin_.ns);
  if (measured_seconds_ == 0) seconds_ += ns / measured / 1e9 * now;
  per_s_ = ns / 1e9 / measured;
  kfrees_per_s_ = static_cast<double>(samples.runs("kfree").runs - kfrees_begin_) / measured;
  measured_seconds_ += measured;
  clock_.reset();
  clock_begin_ = now + kNotMeasured;
}

void ProgramCosts::begin_measuring(double now, const InvestigationSamples& samples) {
  clock_ = std::make_unique<ProgramClock>();
  if (!clock_->is_on()) {
    clock_.reset();
    clock_begin_ = all_seconds_;
    return;
  }
  clock_begin_ = now;
  runs_begin_ = samples.runs();
  kfrees_begin_ = samples.runs("kfree").runs;
}

void ProgramCosts::measure(double now, const InvestigationSamples& samples) {
  try {
    seconds_ += per_s_ * (now - accounted_until_);
    accounted_until_ = now;
    if (clock_ && now - clock_begin_ >= kMeasured)
      end_measuring(now, samples);
    else if (!clock_ && now >= clock_begin_)
      begin_measuring(now, samples);
  } catch (const Error&) {  // the kernel's clock for BPF programs cannot be turned on
    clock_.reset();
    clock_begin_ = all_seconds_;
  }
}

}  // namespace kmt
