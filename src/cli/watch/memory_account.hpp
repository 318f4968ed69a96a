// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the kernel's own account of its memory for `serve`.
#pragma once

#include "results/snapshot/account.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

// Reads the kernel's counters, which takes a few milliseconds. `kernel` describes the running kernel. Throws Error.
MemoryAccount read_account(const KernelDescription& kernel);

}  // namespace kmt
