// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/program_clock.hpp"

#include <cerrno>

#include <unistd.h>

#include "capture/bpf/object.hpp"

namespace kmt {

ProgramClock::ProgramClock() : descriptor_(bpf_enable_stats(BPF_STATS_RUN_TIME)) {}

ProgramClock::~ProgramClock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

ProgramRuns runs_of(const bpf_program* program) {
  bpf_prog_info info{};
  unsigned bytes = sizeof info;
  if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &bytes) != 0)
    throw_bpf_error("Cannot read the state of a BPF program", errno);
  return {info.run_cnt, info.run_time_ns};
}

}  // namespace kmt
