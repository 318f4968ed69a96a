// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the current state of the kernel's memory.
#pragma once

#include <array>
#include <cstdint>

#include "trace/state/sample.hpp"

namespace kmt {

// these texts are files in /proc
inline constexpr std::array kMemoryStateFiles = {"meminfo", "vmstat", "slabinfo", "buddyinfo"};

// Skips unreadable files. Sets the wall clock time; the caller must set the ticks.
StateSample sample_memory_state();

// Kernel memory that the recorder itself uses, in bytes: ring buffers of tracefs and perf, and maps of BPF programs.
struct RecorderMemory {
  std::uint64_t ring_buffers = 0;
  std::uint64_t bpf_maps = 0;
};
void add_recorder(StateSample& sample, const RecorderMemory& memory);

}  // namespace kmt
