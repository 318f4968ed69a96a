// SPDX-License-Identifier: GPL-2.0-or-later
// Where the running kernel keeps its descriptions of pages: tracepoints tell pages by the addresses of these.
#pragma once

#include <optional>

#include "capture/bpf/record_layout.hpp"
#include "capture/bpf/tracepoint_arguments.hpp"

namespace kmt {

// Watches this thread's own frees of pages for a moment. Nothing where the descriptions do not lie one behind the other
// (SPARSEMEM without VMEMMAP), or nothing could be learnt. Throws Error.
std::optional<PageTable> find_page_table(const KernelTypes& types);

}  // namespace kmt
