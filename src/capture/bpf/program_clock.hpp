// SPDX-License-Identifier: GPL-2.0-or-later
// What BPF programs cost, by the kernel's own clock of them. It reads the time twice a run, which takes about as long
// as what it leaves out: the way into a program (docs/BENCHMARKS.md). So it is on for moments only.
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

// While it is there, the kernel counts the runs of all programs and takes their time.
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

// Of a loaded program. Throws Error.
ProgramRuns runs_of(const bpf_program* program);

}  // namespace kmt
