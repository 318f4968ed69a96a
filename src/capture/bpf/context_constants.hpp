// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the constants that context.bpf.h needs to determine the interrupt level.
#pragma once

#include <cstdint>

#include "capture/bpf/tracepoint_arguments.hpp"

namespace kmt {

struct ContextConstants {
  bool can_cast = false;
  std::int64_t from_run_queue = 0;
  std::uint32_t hardirq_mask = 0;
};

// Returns the constants of the running kernel. Throws Error if the kernel's BTF lacks the necessary types.
ContextConstants context_constants(const KernelTypes& types);

// Copies the constants into a skeleton's read-only data.
template <typename Constants>
void fill_context_constants(Constants& constants, const ContextConstants& known) {
  constants.can_cast = known.can_cast;
  constants.from_run_queue = known.from_run_queue;
  constants.hardirq_mask = known.hardirq_mask;
}

}  // namespace kmt
