// SPDX-License-Identifier: GPL-2.0-or-later
// Counts kernel memory events with hist triggers, for kernels where BPF programs cannot be used.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "capture/counting/counting.hpp"

namespace kmt {

// Counts each of the events that the kernel has. `processes` are counted with their future children; if it is empty,
// all processes are counted. Throws Error.
std::unique_ptr<EventCounting> count_by_hist(const std::string& tracefs, const std::vector<EventName>& events,
                                             const std::vector<pid_t>& processes);

// Counts allocations by call site and process. `only_kernel_pages` excludes movable pages: user memory and the page
// cache. Throws Error.
std::unique_ptr<SiteCounting> count_sites_by_hist(const std::string& tracefs, const std::vector<pid_t>& processes,
                                                  bool only_kernel_pages);

}  // namespace kmt
