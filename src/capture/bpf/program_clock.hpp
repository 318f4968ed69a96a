// SPDX-License-Identifier: GPL-2.0-or-later
// Measures the cost of BPF programs with the kernel's own clock. It reads the time twice a run, which costs about as
// much as the part that it leaves out, entering the program (docs/BENCHMARKS.md). So it is on only for moments.
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

// During its life, the kernel counts and times all programs' runs.
class ProgramClock {
 public:
  ProgramClock();
  ProgramClock(const ProgramClock&) = delete;
  ProgramClock& operator=(const ProgramClock&) = delete;
  ~ProgramClock();
  bool is_on() const { return descriptor_ >= 0; }  // false: not permitted, or before Linux 5.8

 private:
  int descriptor_;
};

// `program` must be loaded. Throws Error.
ProgramRuns runs_of(const bpf_program* program);

}  // namespace kmt
