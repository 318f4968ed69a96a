// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the memory of each NUMA node as text.
#pragma once

#include <string>

#include "trace/state/kernel_memory.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Returns a table of the nodes; empty if the machine has one node.
std::string text_nodes(const KernelMemory& memory, const TextStyle& style);

}  // namespace kmt
