// SPDX-License-Identifier: GPL-2.0-or-later
// The machine and the kernel that a trace was recorded on. A source fills it when it is opened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/endian.hpp"

namespace kmt {

struct TraceMachine {
  std::string kernel;  // release, "6.1.0-47-amd64"; empty when the trace does not say
  std::string arch;    // as uname -m
  ByteOrder byte_order = ByteOrder::little;
  unsigned word_bits = 64;                  // of the kernel
  std::uint64_t page_size = 0;              // bytes
  std::optional<unsigned> pageblock_order;  // a page block, with one migrate type, has 2^it pages; empty: unknown
  unsigned cpus = 0;
  std::vector<std::int16_t> cpu_nodes;  // NUMA node of each CPU; empty when the trace does not say
};

}  // namespace kmt
