// SPDX-License-Identifier: GPL-2.0-or-later
// The sums of each allocator in the text of a report.
#pragma once

#include <string>

#include "results/report/report.hpp"
#include "views/text/style.hpp"

namespace kmt {

bool has_events(const AllocatorTotals& totals);
bool has_pages(const PageTotals& pages);

// Returns the lines about slab objects. If `has_zeros` is false, omits a line about failures or nodes if all numbers in
// this line are zero.
std::string slab_lines(const SlabTotals& slab, bool has_zeros, const TextStyle& style);
std::string page_lines(const PageTotals& pages, const TextStyle& style);
// The next two functions return an empty text if the trace has no events of the allocator.
std::string percpu_lines(const AllocatorTotals& percpu, const TextStyle& style);
std::string vmalloc_lines(const AllocatorTotals& vmalloc, const TextStyle& style);

}  // namespace kmt
