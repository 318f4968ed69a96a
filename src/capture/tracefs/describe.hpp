// SPDX-License-Identifier: GPL-2.0-or-later
// Collects what a kernel says about itself, for the trace file.
#pragma once

#include <string>
#include <vector>

#include "capture/features/events.hpp"
#include "capture/tracefs/instance.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

// All but the names of tasks; throws Error when a needed description cannot be read.
KernelDescription describe_kernel(const std::string& tracefs, const Instance& instance,
                                  const std::vector<EventName>& events, const std::vector<unsigned>& cpus);

// The NUMA node of each CPU up to `cpus`; 0 for all of a kernel without NUMA, -1 where it is not known.
std::vector<int> read_cpu_nodes(unsigned cpus);

// Whether the text of /proc/kallsyms shows real addresses.
bool has_addresses(const std::string& kallsyms);

}  // namespace kmt
