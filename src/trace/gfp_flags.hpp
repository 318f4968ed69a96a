// SPDX-License-Identifier: GPL-2.0-or-later
// Names of allocation flags (gfp_t). Traces contain these names, because the bits differ between kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kmt {

struct FlagName {
  std::uint64_t bits = 0;  // the name applies if all of these bits are set in the flags
  std::string name;
};

// Returns flags in the kernel's format: "GFP_KERNEL|__GFP_ZERO" (trace_print_flags_seq() in
// kernel/trace/trace_output.c, Linux 6.18). Names are tried in the order of `names`; each name that applies removes its
// bits. Remaining bits are shown as a number. Returns "none" if no flag is set, and an empty text if `names` is empty.
std::string gfp_text(const std::vector<FlagName>& names, std::uint64_t flags);

}  // namespace kmt
