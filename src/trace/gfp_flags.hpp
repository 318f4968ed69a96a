// SPDX-License-Identifier: GPL-2.0-or-later
// Names of allocation flags (gfp_t). Traces contain these names, because the bits differ between kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kmt {

struct FlagName {
  std::uint64_t bits = 0;  // all of these bits must be set
  std::string name;
};

// Returns flags in the kernel's format: "GFP_KERNEL|__GFP_ZERO" (trace_print_flags_seq() in
// kernel/trace/trace_output.c, Linux 6.18). Each matching name, in the order of `names`, covers its bits; the remaining
// bits are shown as a number. "none" if no flag is set. Empty if there are no names.
std::string gfp_text(const std::vector<FlagName>& names, std::uint64_t flags);

}  // namespace kmt
