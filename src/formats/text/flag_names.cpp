// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/flag_names.hpp"

#include <algorithm>
#include <array>

namespace kmt::text {

namespace {

// Names in include/trace/events/mmflags.h and, until Linux 4.4, gfpflags.h (Linux 2.6.31 to 6.18), after "GFP_" or
// "__GFP_".
constexpr std::array<std::string_view, 49> kNames = {"ACCOUNT",
                                                     "ATOMIC",
                                                     "COLD",
                                                     "COMP",
                                                     "DIRECT_RECLAIM",
                                                     "DMA",
                                                     "DMA32",
                                                     "FS",
                                                     "HARDWALL",
                                                     "HIGH",
                                                     "HIGHMEM",
                                                     "HIGHUSER",
                                                     "HIGHUSER_MOVABLE",
                                                     "IO",
                                                     "KERNEL",
                                                     "KERNEL_ACCOUNT",
                                                     "KSWAPD_RECLAIM",
                                                     "MEMALLOC",
                                                     "MOVABLE",
                                                     "NOFAIL",
                                                     "NOFS",
                                                     "NOIO",
                                                     "NOLOCKDEP",
                                                     "NOMEMALLOC",
                                                     "NORETRY",
                                                     "NOTRACK",
                                                     "NOTRACK_FALSE_POSITIVE",
                                                     "NOWAIT",
                                                     "NOWARN",
                                                     "NO_KSWAPD",
                                                     "NO_OBJ_EXT",
                                                     "OTHER_NODE",
                                                     "RECLAIM",
                                                     "RECLAIMABLE",
                                                     "REPEAT",
                                                     "RETRY_MAYFAIL",
                                                     "SKIP_KASAN",
                                                     "SKIP_KASAN_POISON",
                                                     "SKIP_KASAN_UNPOISON",
                                                     "SKIP_ZERO",
                                                     "TEMPORARY",
                                                     "THISNODE",
                                                     "TRANSHUGE",
                                                     "TRANSHUGE_LIGHT",
                                                     "USER",
                                                     "WAIT",
                                                     "WRITE",
                                                     "ZERO",
                                                     "ZEROTAGS"};

}  // namespace

bool is_cut_flag(std::string_view name) {
  constexpr std::string_view kNew = "__GFP_", kOld = "GFP_";
  if (name.empty()) return true;
  if (kNew.starts_with(name) || kOld.starts_with(name)) return true;
  if (!name.starts_with(kNew) && !name.starts_with(kOld)) return false;
  name.remove_prefix(name.starts_with(kNew) ? kNew.size() : kOld.size());
  return std::ranges::find(kNames, name) == kNames.end() &&
         std::ranges::any_of(kNames, [name](std::string_view known) { return known.starts_with(name); });
}

}  // namespace kmt::text
