// SPDX-License-Identifier: GPL-2.0-or-later
// Measures the cost of BPF programs with the kernel's own clock. The kernel reads the time before and after each run.
// These reads cost about as much as entering the program (docs/BENCHMARKS.md), so the clock is on for short times only.
// The measured time does not include entering the program.
#pragma once

#include <cstdint>

struct bpf_program;

namespace kmt {

struct ProgramRuns {
  std::uint64_t runs = 0;
  std::uint64_t ns = 0;

  ProgramRuns& operator+=(const ProgramRuns& other) {
    runs += other.runs;
    ns += other.ns;
    return *this;
  }
};

// While this object exists, the kernel counts and times all programs' runs.
class ProgramClock {
 public:
  ProgramClock();
  ProgramClock(const ProgramClock&) = delete;
  ProgramClock& operator=(const ProgramClock&) = delete;
  ~ProgramClock();
  bool is_on() const { return descriptor_ >= 0; }  // false without permission, or before Linux 5.8

 private:
  int descriptor_;
};

// Returns the number of runs of a loaded program and the time that they took. Throws Error.
ProgramRuns runs_of(const bpf_program* program);

}  // namespace kmt
