// SPDX-License-Identifier: GPL-2.0-or-later
// Counts kernel memory events that are read from a ring buffer. This works on every kernel with trace events, but costs
// more than counting inside the kernel, and may lose events.
#pragma once

#include <memory>
#include <string>

#include "capture/bpf/selection.hpp"
#include "capture/counting/counting.hpp"

namespace kmt {

// Counts each event. Throws Error.
std::unique_ptr<EventCounting> count_by_ring(const std::string& tracefs, const BpfSelection& selection);

// Counts allocations by call site and process. `only_kernel_pages` excludes movable pages: user memory and the page
// cache. Throws Error.
std::unique_ptr<SiteCounting> count_sites_by_ring(const std::string& tracefs, const BpfSelection& selection,
                                                  bool only_kernel_pages);

}  // namespace kmt
