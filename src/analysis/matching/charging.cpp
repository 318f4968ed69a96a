// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/charging.hpp"

#include <algorithm>

namespace kmt {

// Both names count, because GFP_KERNEL_ACCOUNT is a bit of its own in text traces, which only have printed names.
void Charging::learn_flags() {
  names_ = info_.tables.gfp_flags.size();
  account_flags_.clear();
  for (const FlagName& flag : info_.tables.gfp_flags)
    if (flag.bits != 0 && (flag.name == "__GFP_ACCOUNT" || flag.name == "GFP_KERNEL_ACCOUNT"))
      account_flags_.push_back(flag.bits);
}

Charge Charging::charge_of(const Event& event) {
  if (!info_.machine.has_memcg) return Charge::no;
  if (is_slab_alloc(event.kind) && (event.page_flags & AccountFlags::kKnown) != 0)
    return (event.page_flags & AccountFlags::kCharged) != 0 ? Charge::yes : Charge::no;
  if (names_ != info_.tables.gfp_flags.size()) learn_flags();
  const bool is_asked_for =
      std::ranges::any_of(account_flags_, [&](std::uint64_t bits) { return (event.gfp_flags & bits) == bits; });
  if (is_asked_for) return Charge::yes;
  // Percpu events before Linux 5.19 have neither a call site nor flags.
  const bool has_flags =
      event.kind == EventKind::kmalloc || (event.kind == EventKind::percpu_alloc && event.call_site.value != 0);
  return !account_flags_.empty() && has_flags ? Charge::no : Charge::unknown;
}

}  // namespace kmt
