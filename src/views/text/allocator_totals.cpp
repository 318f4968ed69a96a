// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/allocator_totals.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "views/text/lines.hpp"

namespace kmt {

namespace {

// Returns the lines that the totals of percpu memory and of vmalloc areas have in common.
std::string given_lines(const AllocatorTotals& totals, std::string_view allocated, std::string_view noun,
                        const TextStyle& style) {
  const auto bytes = [&](std::uint64_t sum) { return totals.knows_bytes ? say_bytes(sum, style) : "unknown"; };
  const std::string freed = say_number_of(totals.matched_frees, "free", style);
  std::string out = sum_line("allocated", bytes(totals.bytes_allocated), allocated, style);
  out += sum_line("freed", bytes(totals.bytes_freed), "of these bytes, in " + freed, style);
  out += sum_line("live at end", upper_bound(totals.maybe_freed, bytes(totals.live_bytes), style),
                  "in " + say_number_of(totals.live_allocations, noun, style), style);
  if (totals.failed_allocations > 0)
    out += sum_line("failed", say_count(totals.failed_allocations, style),
                    totals.failed_allocations == 1 ? "attempt failed" : "attempts failed", style);
  return out;
}

}  // namespace

bool has_events(const AllocatorTotals& totals) {
  return totals.allocations + totals.failed_allocations + totals.frees + totals.null_frees > 0;
}

bool has_pages(const PageTotals& pages) { return pages.allocations + pages.failed_allocations + pages.frees > 0; }

std::string slab_lines(const SlabTotals& slab, bool has_zeros, const TextStyle& style) {
  std::string out = "\n" + heading("Slab allocator", style);
  if (!has_events(slab))
    return out + "  no events of this allocator in the trace (kmalloc, kfree, kmem_cache_alloc, kmem_cache_free)\n";
  const std::uint64_t wasted = slab.bytes_allocated - std::min(slab.bytes_requested, slab.bytes_allocated);
  const auto bytes = [&](std::string_view label, std::uint64_t sum, const std::string& remark) {
    out += sum_line(label, say_bytes(sum, style), remark, style);
  };
  const auto count = [&](std::string_view label, std::uint64_t sum, const std::string& remark) {
    out += sum_line(label, say_count(sum, style), remark, style);
  };
  bytes("requested", slab.bytes_requested, "in " + say_number_of(slab.allocations, "allocation", style));
  bytes("allocated", slab.bytes_allocated,
        fmt::format("{} of these bytes ({}) are waste", say_share(wasted, slab.bytes_allocated),
                    say_bytes(wasted, style)));
  bytes("freed", slab.bytes_freed,
        fmt::format("of these bytes, in {}", say_number_of(slab.matched_frees, "free", style)));
  const std::uint64_t ended = slab.matched_frees + slab.live_allocations;
  if (slab.allocations > ended)
    bytes("reused", slab.bytes_allocated - std::min(slab.bytes_allocated, slab.bytes_freed + slab.live_bytes),
          fmt::format("of these bytes, in {}: freed without an event, then their address was allocated again",
                      say_number_of(slab.allocations - ended, "allocation", style)));
  out += sum_line("live at end", upper_bound(slab.maybe_freed, say_bytes(slab.live_bytes, style), style),
                  "in " + say_number_of(slab.live_allocations, "allocation", style), style);
  if (has_zeros || slab.failed_allocations > 0)
    count("failed", slab.failed_allocations, slab.failed_allocations == 1 ? "allocation" : "allocations");
  count("cross-CPU", slab.cross_cpu_frees,
        fmt::format("frees on a different CPU than the allocation, {} of the matched frees",
                    say_share(slab.cross_cpu_frees, slab.matched_frees)));
  if (!has_zeros && slab.cross_node_allocations.value_or(0) == 0) return out;
  if (slab.cross_node_allocations)
    count("cross-node", *slab.cross_node_allocations, "allocations that requested a node other than their CPU's node");
  else
    out += sum_line("cross-node", "unknown", "the trace does not contain the nodes of the CPUs", style);
  return out;
}

std::string page_lines(const PageTotals& pages, const TextStyle& style) {
  std::string out = "\n" + heading("Page allocator", style);
  if (!has_pages(pages)) return out + "  no events of this allocator in the trace (mm_page_alloc, mm_page_free)\n";
  const auto bytes = [&](std::string_view label, std::uint64_t sum, const std::string& remark) {
    out += sum_line(label, say_bytes(sum, style), remark, style);
  };
  bytes("allocated", pages.bytes_allocated, "in " + say_number_of(pages.allocations, "allocation", style));
  bytes("freed", pages.bytes_freed,
        fmt::format("of these bytes; the trace has {}", say_number_of(pages.frees, "free", style)));
  out += sum_line("live at end", upper_bound(pages.maybe_freed, say_bytes(pages.live_bytes, style), style),
                  "including slab pages: do not add the slab allocator's bytes", style);
  if (pages.failed_allocations > 0)
    out += sum_line("failed", say_count(pages.failed_allocations, style), "allocations got no page", style);
  return out;
}

std::string percpu_lines(const AllocatorTotals& percpu, const TextStyle& style) {
  if (!has_events(percpu)) return {};
  return "\n" + heading("Percpu allocator", style) +
         sum_line("requested", say_bytes(percpu.bytes_requested, style),
                  "for each CPU, in " + say_number_of(percpu.allocations, "allocation", style), style) +
         given_lines(percpu,
                     percpu.knows_bytes ? "for all possible CPUs, including accounting overhead"
                                        : "Linux before 5.19 does not report the number of CPUs",
                     "allocation", style);
}

std::string vmalloc_lines(const AllocatorTotals& vmalloc, const TextStyle& style) {
  if (!has_events(vmalloc)) return {};
  return "\n" + heading("Vmalloc areas", style) +
         given_lines(vmalloc,
                     fmt::format("in {}: address ranges including guard pages, not all backed by memory",
                                 say_number_of(vmalloc.allocations, "area", style)),
                     "area", style);
}

}  // namespace kmt
