// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/report/check.hpp"

namespace kmt {

AffectedNumbers affected_by(Imperfection kind) {
  switch (kind) {
    // Report tables have a column for failed allocations, so failures do not make any number wrong.
    case Imperfection::failed_allocation: return AffectedNumbers::nothing;
    case Imperfection::no_frees_recorded:
    case Imperfection::freed_by_another_family:
    case Imperfection::freed_by_another_cache:
    case Imperfection::hashed_pointers:
    case Imperfection::hidden_pointers: return AffectedNumbers::live;
    case Imperfection::free_before_allocation: return AffectedNumbers::lifetimes;
    case Imperfection::suspended:
    case Imperfection::clock_jumps:
    case Imperfection::clocks_apart:
    case Imperfection::clock_not_nanoseconds: return AffectedNumbers::times;
    case Imperfection::unknown_cpus:
    case Imperfection::lost_cgroup_moves:
    case Imperfection::lost_mappings:
    case Imperfection::too_many_flag_names:
    case Imperfection::cut_off_field: return AffectedNumbers::groups;
    default: return describe(kind).severity == Severity::info ? AffectedNumbers::nothing : AffectedNumbers::totals;
  }
}

}  // namespace kmt
