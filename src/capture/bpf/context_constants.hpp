// SPDX-License-Identifier: GPL-2.0-or-later
// Where BPF programs find whether an interrupt is at work: the constants of context.bpf.h.
#pragma once

#include <cstdint>

#include "capture/bpf/tracepoint_arguments.hpp"

namespace kmt {

struct ContextConstants {
  bool can_cast = false;
  std::int64_t from_run_queue = 0;
  std::uint32_t hardirq_mask = 0;
};

// Throws Error where the running kernel does not tell.
ContextConstants context_constants(const KernelTypes& types);

// In the part of a skeleton for them.
template <typename Constants>
void fill_context_constants(Constants& constants, const ContextConstants& known) {
  constants.can_cast = known.can_cast;
  constants.from_run_queue = known.from_run_queue;
  constants.hardirq_mask = known.hardirq_mask;
}

}  // namespace kmt
