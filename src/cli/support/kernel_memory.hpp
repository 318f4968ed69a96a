// SPDX-License-Identifier: GPL-2.0-or-later
// Selects how the memory of the running kernel is read.
#pragma once

#include <memory>

#include "snapshot/objects/kernel_reader.hpp"

namespace kmt {

// If there is no /proc/kcore, as in containers and some kernels, returns a reader that uses a BPF program. Returns null
// if there is one. Throws Error if the kernel refuses the BPF program.
std::unique_ptr<KernelReader> memory_without_kcore();

}  // namespace kmt
