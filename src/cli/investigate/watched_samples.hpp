// SPDX-License-Identifier: GPL-2.0-or-later
// Manages the samples of an investigation. Takes as many samples as the CPU budget allows. Results are available while
// sampling continues.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/investigate/plan.hpp"
#include "cli/investigate/program_costs.hpp"
#include "cli/investigate/samples.hpp"

namespace kmt {

class WatchedSamples {
 public:
  // `seconds` is the duration of the investigation. `seconds_left` returns how much of this time is left.
  WatchedSamples(double seconds, std::function<double()> seconds_left, std::vector<UnseenSource>& unseen)
      : costs_(seconds), seconds_left_(std::move(seconds_left)), unseen_(unseen) {}

  void begin();
  void drain();
  void measure(double now) { costs_.measure(now, *sampler_); }
  // Restarts sampling when the rate of allocations is known, with as many samples as the budget allows. If a second
  // measurement shows that there was a burst during the first one, restarts sampling once more with many more samples.
  void tune(double cpu_left, bool recorded, const InvestigationPlan& plan);
  void look();
  // Writes profile.kmt into the folder. Call look() first.
  void end(const std::string& folder);

  bool are_drawn() const { return sampler_ != nullptr; }
  const ProgramCosts& costs() const { return costs_; }
  double kernel_seconds() const;  // CPU time of the BPF programs in seconds
  std::uint64_t ring_bytes() const { return sampler_ ? sampler_->ring_bytes() : 0; }
  std::uint64_t kernel_bytes() const { return sampler_ ? sampler_->kernel_bytes() : 0; }
  // Returns the results at the time of the last call of look().
  const std::optional<GrowthSeen>& seen() const { return seen_; }
  std::uint64_t begin_ns() const { return begin_ns_; }
  const std::map<std::string, double>& allocations_per_s() const { return allocations_per_s_; }  // by cache

 private:
  void begin(std::uint64_t mean_bytes, bool pages);

  LiveKernel kernel_;
  ProgramCosts costs_;
  std::function<double()> seconds_left_;
  std::vector<UnseenSource>& unseen_;
  std::unique_ptr<InvestigationSamples> sampler_;
  std::uint64_t earlier_ = 0;  // number of samples taken before the last restart
  std::uint64_t mean_bytes_ = 0;
  bool have_pages_ = false;
  int tuned_ = 0;               // number of rate measurements that tune() has used
  double reading_seconds_ = 0;  // CPU time for reading samples
  std::optional<GrowthSeen> seen_;
  std::uint64_t begin_ns_ = 0;
  std::map<std::string, double> allocations_per_s_;
};

}  // namespace kmt
