// SPDX-License-Identifier: GPL-2.0-or-later
// The machine and the kernel on which a trace was recorded. A trace source sets these members when it is opened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/endian.hpp"

namespace kmt {

struct TraceMachine {
  std::string kernel;  // kernel release: "6.1.0-47-amd64"; empty if unknown
  std::string arch;    // machine name as in uname -m
  ByteOrder byte_order = ByteOrder::little;
  unsigned word_bits = 64;                  // number of bits in a word of the kernel
  std::uint64_t page_size = 0;              // bytes
  std::optional<unsigned> pageblock_order;  // a pageblock has 2^pageblock_order pages; empty: unknown
  bool has_memcg = true;  // false: the kernel was built without CONFIG_MEMCG; true: unknown, or with it
  unsigned cpus = 0;
  std::vector<std::int16_t> cpu_nodes;  // NUMA node of each CPU; empty if unknown
};

}  // namespace kmt
