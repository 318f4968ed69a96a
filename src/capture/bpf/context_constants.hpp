// SPDX-License-Identifier: GPL-2.0-or-later
// The constants of context.bpf.h, with which BPF programs find the current interrupt level.
#pragma once

#include <cstdint>

#include "capture/bpf/tracepoint_arguments.hpp"

namespace kmt {

struct ContextConstants {
  bool can_cast = false;
  std::int64_t from_run_queue = 0;
  std::uint32_t hardirq_mask = 0;
};

// Throws Error if the running kernel's types do not show them.
ContextConstants context_constants(const KernelTypes& types);

// Sets them in a skeleton's part for them.
template <typename Constants>
void fill_context_constants(Constants& constants, const ContextConstants& known) {
  constants.can_cast = known.can_cast;
  constants.from_run_queue = known.from_run_queue;
  constants.hardirq_mask = known.hardirq_mask;
}

}  // namespace kmt
