// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the addresses of the running kernel's page descriptors (struct page). They are needed to compute frame numbers,
// because the arguments of tracepoints are addresses of page descriptors.
#pragma once

#include <optional>

#include "capture/bpf/record_layout.hpp"
#include "capture/bpf/tracepoint_arguments.hpp"

namespace kmt {

// Frees pages in this thread and reads the descriptors' addresses from the resulting events. Returns nothing if the
// descriptors are not contiguous (SPARSEMEM without VMEMMAP) or could not be found. Throws Error.
std::optional<PageTable> find_page_table(const KernelTypes& types);

}  // namespace kmt
