// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the running kernel's page descriptors, whose addresses are in tracepoints.
#pragma once

#include <optional>

#include "capture/bpf/record_layout.hpp"
#include "capture/bpf/tracepoint_arguments.hpp"

namespace kmt {

// Watches this thread's own frees of pages for a moment. Empty if the descriptors are not contiguous (SPARSEMEM without
// VMEMMAP), or could not be found. Throws Error.
std::optional<PageTable> find_page_table(const KernelTypes& types);

}  // namespace kmt
