// SPDX-License-Identifier: GPL-2.0-or-later
// Measures the CPU time of the BPF programs that take samples. The kernel's clock for BPF programs is turned on only
// for short periods, because it makes every program run slower.
#pragma once

#include <cstdint>
#include <memory>

#include "capture/bpf/program_clock.hpp"
#include "cli/investigate/samples.hpp"

namespace kmt {

class ProgramCosts {
 public:
  // `seconds` is the duration of the whole investigation.
  explicit ProgramCosts(double seconds) : all_seconds_(seconds) {}

  // Measures the cost of the programs. Call it several times per second. `now` is the time in seconds since the start
  // of the investigation.
  void measure(double now, const InvestigationSamples& samples);
  // stops the measurement; call it when the programs are replaced
  void pause() { clock_.reset(); }
  // Ends the measurement. Call it after the programs have ended.
  void end() {
    clock_.reset();
    per_s_ = 0;
  }

  bool is_measured() const { return measured_seconds_ > 0; }
  double seconds() const { return seconds_; }            // CPU time of the programs until now, in seconds
  double per_s() const { return per_s_; }                // CPU time of the programs per second, in seconds
  double kfrees_per_s() const { return kfrees_per_s_; }  // 0: unknown

 private:
  void end_measuring(double now, const InvestigationSamples& samples);
  void begin_measuring(double now, const InvestigationSamples& samples);

  double all_seconds_;
  std::unique_ptr<ProgramClock> clock_;
  double clock_begin_ = 0;  // time in seconds when the kernel's clock was turned on or will be turned on
  ProgramRuns runs_begin_;
  std::uint64_t kfrees_begin_ = 0;
  double measured_seconds_ = 0;
  double per_s_ = 0;
  double kfrees_per_s_ = 0;
  double seconds_ = 0;
  double accounted_until_ = 0;
};

}  // namespace kmt
