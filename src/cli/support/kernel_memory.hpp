// SPDX-License-Identifier: GPL-2.0-or-later
// Selects how the memory of the running kernel is read.
#pragma once

#include <memory>

#include "snapshot/objects/kernel_reader.hpp"

namespace kmt {

// Returns null if /proc/kcore exists. Otherwise, as in containers and on some kernels, returns a reader that uses a BPF
// program. Throws Error if the kernel refuses the BPF program.
std::unique_ptr<KernelReader> memory_without_kcore();

}  // namespace kmt
