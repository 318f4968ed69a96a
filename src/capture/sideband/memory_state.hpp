// SPDX-License-Identifier: GPL-2.0-or-later
// The present state of the kernel's memory.
#pragma once

#include <array>
#include <cstdint>

#include "trace/state/sample.hpp"

namespace kmt {

// Files of /proc.
inline constexpr std::array kMemoryStateFiles = {"meminfo", "vmstat", "slabinfo", "buddyinfo"};

// Skips unreadable files. Sets the wall clock; the caller sets the ticks.
StateSample sample_memory_state();

// Bytes of the recorder's own kernel memory: ring buffers of tracefs and perf, maps of BPF programs.
struct RecorderMemory {
  std::uint64_t ring_buffers = 0;
  std::uint64_t bpf_maps = 0;
};
void add_recorder(StateSample& sample, const RecorderMemory& memory);

}  // namespace kmt
