// SPDX-License-Identifier: GPL-2.0-or-later
// Samples during an investigation: as fine as the budget allows, with their results so far.
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
  // `seconds`: of the whole investigation; `seconds_left`: of it.
  WatchedSamples(double seconds, std::function<double()> seconds_left, std::vector<UnseenSource>& unseen)
      : costs_(seconds), seconds_left_(std::move(seconds_left)), unseen_(unseen) {}

  void begin();
  void drain();
  void measure(double now) { costs_.measure(now, *sampler_); }
  // Restarts once the rate is known, as fine as the budget allows, and again if that was a burst's rate and samples can
  // be much finer.
  void tune(double cpu_left, bool recorded, const InvestigationPlan& plan);
  void look();
  // Call look() before. Writes profile.kmt into the folder.
  void end(const std::string& folder);

  bool are_drawn() const { return sampler_ != nullptr; }
  const ProgramCosts& costs() const { return costs_; }
  double kernel_seconds() const;  // of CPU time
  std::uint64_t ring_bytes() const { return sampler_ ? sampler_->ring_bytes() : 0; }
  std::uint64_t kernel_bytes() const { return sampler_ ? sampler_->kernel_bytes() : 0; }
  // At the last look.
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
  std::uint64_t earlier_ = 0;  // samples of samplers that ended
  std::uint64_t mean_bytes_ = 0;
  bool have_pages_ = false;
  int tuned_ = 0;               // times
  double reading_seconds_ = 0;  // CPU time
  std::optional<GrowthSeen> seen_;
  std::uint64_t begin_ns_ = 0;
  std::map<std::string, double> allocations_per_s_;
};

}  // namespace kmt
