// SPDX-License-Identifier: GPL-2.0-or-later
// How the kernel's memory stands now.
#pragma once

#include <array>
#include <cstdint>

#include "trace/state/sample.hpp"

namespace kmt {

// Of /proc.
inline constexpr std::array kMemoryStateFiles = {"meminfo", "vmstat", "slabinfo", "buddyinfo"};

// What cannot be read is left out. The wall clock is set, the ticks are the caller's.
StateSample sample_memory_state();

// Says what of it is the recorder's own, in bytes: ring buffers of tracefs and perf, maps of BPF programs.
struct RecorderMemory {
  std::uint64_t ring_buffers = 0;
  std::uint64_t bpf_maps = 0;
};
void add_recorder(StateSample& sample, const RecorderMemory& memory);

}  // namespace kmt
