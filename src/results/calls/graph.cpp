// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/calls/graph.hpp"

#include <algorithm>
#include <tuple>

namespace kmt {

namespace {

template <Allocator allocator>
const InsideSum& inside(const GraphFunction& row) {
  return row.inside[static_cast<std::size_t>(allocator)];
}

// Returns an empty cell if the calls requested no memory from this allocator.
template <Allocator allocator, std::uint64_t InsideSum::*member>
Cell sum(const GraphFunction& row) {
  const InsideSum& of = inside<allocator>(row);
  return of.any() ? Cell{of.*member} : Cell{};
}

template <std::uint64_t GraphFunction::*member>
Cell time(const GraphFunction& row) {
  return row.timed > 0 ? Cell{row.*member} : Cell{};
}

std::uint64_t failed(const GraphFunction& row) {
  std::uint64_t all = 0;
  for (const InsideSum& of : row.inside) all += of.failed;
  return all;
}

constexpr std::array kCallColumns = {
    Column<GraphFunction>{"function", "Function", Unit::text, 0,
                          [](const GraphFunction& row) { return Cell{std::string_view(row.name)}; },
                          "the called function"},
    Column<GraphFunction>{"calls", "Calls", Unit::count, 1, [](const GraphFunction& row) { return Cell{row.calls}; },
                          "number of calls whose start is in the trace"},
    Column<GraphFunction>{"selected", "Selected", Unit::count, 2,
                          [](const GraphFunction& row) { return Cell{row.selected}; },
                          "number of calls that the filters on results, durations and depths also select; the other "
                          "columns count all calls",
                          false},
    Column<GraphFunction>{
        "total-time", "Time", Unit::duration, 0, time<&GraphFunction::total_ns>,
        "total time of the calls, from the first to the last instruction; includes sleep unless ftrace excluded it"},
    Column<GraphFunction>{"self-time", "Self", Unit::duration, 2, time<&GraphFunction::self_ns>,
                          "part of the total time outside of traced callees and of interrupts during the calls"},
    Column<GraphFunction>{"longest", "Longest", Unit::duration, 7, time<&GraphFunction::longest_ns>,
                          "duration of the longest call"},
    Column<GraphFunction>{"slab", "Slab", Unit::bytes, 1, sum<Allocator::slab, &InsideSum::bytes>,
                          "bytes of slab objects allocated inside the calls, including their callees"},
    Column<GraphFunction>{"slab-hits", "Hits", Unit::count, 5, sum<Allocator::slab, &InsideSum::allocations>,
                          "number of these slab objects"},
    Column<GraphFunction>{"slab-live", "Slab live", Unit::bytes, 3, sum<Allocator::slab, &InsideSum::live_bytes>,
                          "bytes of these slab objects that are live at the end of the trace"},
    Column<GraphFunction>{"pages", "Pages", Unit::bytes, 1, sum<Allocator::pages, &InsideSum::bytes>,
                          "bytes of pages allocated inside the calls, which include the pages of slabs"},
    Column<GraphFunction>{"page-hits", "Hits", Unit::count, 6, sum<Allocator::pages, &InsideSum::allocations>,
                          "number of these allocations of pages"},
    Column<GraphFunction>{"pages-live", "Pages live", Unit::bytes, 4, sum<Allocator::pages, &InsideSum::live_bytes>,
                          "bytes of these pages that are live at the end of the trace"},
    Column<GraphFunction>{"percpu", "Percpu", Unit::bytes, 10, sum<Allocator::percpu, &InsideSum::bytes>,
                          "bytes of percpu memory allocated inside the calls", false},
    Column<GraphFunction>{"vmalloc", "Vmalloc", Unit::bytes, 11, sum<Allocator::vmap, &InsideSum::bytes>,
                          "bytes of vmalloc areas allocated inside the calls", false},
    Column<GraphFunction>{"failed", "Failed", Unit::count, 8,
                          [](const GraphFunction& row) { return Cell{failed(row)}; },
                          "failed allocations inside the calls"},
    Column<GraphFunction>{"cut-off", "Cut off", Unit::count, 9,
                          [](const GraphFunction& row) { return Cell{row.cut_off}; },
                          "calls whose start or end is not in the trace; they have no duration"},
    Column<GraphFunction>{"lost", "Lossy", Unit::count, 12,
                          [](const GraphFunction& row) { return Cell{row.lost_events}; },
                          "calls during which events were lost", false},
};

}  // namespace

InsideSum& InsideSum::operator+=(const InsideSum& other) {
  allocations += other.allocations;
  bytes += other.bytes;
  live_allocations += other.live_allocations;
  live_bytes += other.live_bytes;
  failed += other.failed;
  return *this;
}

const char* interrupt_name(const TracedCall& call) {
  static constexpr std::array<const char*, 4> kNames = {nullptr, "softirq", "hardirq", "nmi"};
  return kNames[call.interrupt];
}

std::span<const Column<GraphFunction>> graph_function_columns() { return kCallColumns; }

std::vector<const GraphFunction*> sorted_functions(const std::vector<GraphFunction>& rows,
                                                   const Column<GraphFunction>& by) {
  return sorted_by_column(rows, by, [](const GraphFunction& a, const GraphFunction& b) {
    return std::tie(b.total_ns, a.name, a.address) < std::tie(a.total_ns, b.name, b.address);
  });
}

std::optional<int> returned_error(std::uint64_t value, unsigned word_bits) {
  const auto is_error = [](std::int64_t number) { return number < 0 && number >= -kMostErrno; };
  if (word_bits == 64 && is_error(static_cast<std::int64_t>(value))) return static_cast<int>(value);
  if (value >> 32 == 0 && is_error(static_cast<std::int32_t>(value))) return static_cast<std::int32_t>(value);
  return {};
}

std::optional<int> returned_error(const TracedCall& call, unsigned word_bits) {
  if (call.typed) return call.result ? error_of(*call.result) : std::nullopt;
  return call.return_value ? returned_error(*call.return_value, word_bits) : std::nullopt;
}

bool has_failed(const TracedCall& call, unsigned word_bits) {
  return returned_error(call, word_bits) || (call.result && call.result->is_failure);
}

std::optional<CallValue> known_result(const TracedCall& call, unsigned word_bits) {
  if (call.typed || !call.return_value) return call.result;
  CallValue value;
  value.kind = ValueKind::integer;
  const auto error = returned_error(call, word_bits);
  value.is_signed = error.has_value();
  value.bits = error ? static_cast<std::uint64_t>(std::int64_t{*error}) : *call.return_value;
  return value;
}

}  // namespace kmt
