// SPDX-License-Identifier: GPL-2.0-or-later
// Names of the flags of allocations (gfp_t). Their bits differ from kernel to kernel: the trace says them itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kmt {

struct FlagName {
  std::uint64_t bits = 0;  // all of them have to be set
  std::string name;
};

// "GFP_KERNEL|__GFP_ZERO", as the kernel prints it (trace_print_flags_seq() in kernel/trace/trace_output.c,
// Linux 6.18): the names in their order, each taking its bits away, and what is left as a number; "none" for no flags.
// Empty where there are no names.
std::string gfp_text(const std::vector<FlagName>& names, std::uint64_t flags);

}  // namespace kmt
