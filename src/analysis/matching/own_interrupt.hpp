// SPDX-License-Identifier: GPL-2.0-or-later
// Interrupts that a task raises for its own allocations.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "trace/code/symbol_names.hpp"

namespace kmt {

// True for functions of the BPF memory allocator that refill free lists. `frame` may have an offset and a module.
bool refills_bpf_memory(std::string_view frame);

// True if an interrupt with this stack works for the task that was interrupted. The BPF memory allocator refills its
// free lists in irq_work, which the allocating task raises on its own CPU (kernel/bpf/memalloc.c, Linux 6.1 to 7.0).
// The stack may be only the call site, because no other code has a function alloc_bulk().
bool is_for_interrupted_task(std::span<const std::uint64_t> stack, const SymbolNames& symbols);

}  // namespace kmt
