// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/report/pages_columns.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace kmt {

namespace {

using Task = PageTaskRow;

template <auto Member>
Cell events_of(const auto& row) {
  return Cell{(row.*Member).events};
}
template <auto Member>
Cell pages_of(const auto& row) {
  return Cell{(row.*Member).pages};
}
template <auto Member>
Cell number(const auto& row) {
  return Cell{std::uint64_t{row.*Member}};
}

constexpr std::array kTaskColumns = {
    Column<Task>{"task", "Task", Unit::text, 0, [](const Task& row) { return Cell{std::string_view(row.task)}; },
                 "name and thread id of a task; work in interrupts is listed as [softirq], [hardirq], [nmi]"},
    Column<Task>{"allocated", "Allocs", Unit::count, 1, events_of<&Task::allocated>,
                 "allocations that succeeded (mm_page_alloc)"},
    Column<Task>{"allocated-pages", "Pages", Unit::count, 0, pages_of<&Task::allocated>, "pages of these allocations"},
    Column<Task>{"live", "Live", Unit::count, 3, number<&Task::live_pages>,
                 "pages allocated by the task and not freed by the end of the trace"},
    Column<Task>{"failed", "Failed", Unit::count, 2, events_of<&Task::failed>, "failed allocations"},
    Column<Task>{"failed-pages", "pages", Unit::count, 30, pages_of<&Task::failed>,
                 "pages requested by failed allocations"},
    Column<Task>{"locked", "Locked", Unit::count, 7, events_of<&Task::zone_locked>,
                 "blocks taken from the buddy lists under the zone lock (mm_page_alloc_zone_locked)"},
    Column<Task>{"locked-pages", "pages", Unit::count, 20, pages_of<&Task::zone_locked>, "pages of the locked blocks"},
    Column<Task>{"refilled", "Refilled", Unit::count, 17, events_of<&Task::refilled>,
                 "blocks taken to refill per-CPU lists of free pages"},
    Column<Task>{"refilled-pages", "pages", Unit::count, 21, pages_of<&Task::refilled>, "pages of the refilled blocks"},
    Column<Task>{"refills", "Refills", Unit::count, 8, number<&Task::refill_runs>,
                 "runs of refills, without another page event of the task in between"},
    Column<Task>{"freed", "Frees", Unit::count, 4, events_of<&Task::freed>, "frees by the task (mm_page_free)"},
    Column<Task>{"freed-pages", "pages", Unit::count, 16, pages_of<&Task::freed>, "pages of these frees"},
    Column<Task>{"batched", "Batched", Unit::count, 9, events_of<&Task::freed_batched>,
                 "frees in batches (mm_page_free_batched); each also has an mm_page_free event"},
    Column<Task>{"drained", "Drained", Unit::count, 10, events_of<&Task::drained>,
                 "blocks moved from per-CPU lists to the buddy lists (mm_page_pcpu_drain)"},
    Column<Task>{"drained-pages", "pages", Unit::count, 22, pages_of<&Task::drained>, "pages of the drained blocks"},
    Column<Task>{"drains", "Drains", Unit::count, 11, number<&Task::drain_runs>,
                 "runs of drains, without another page event of the task in between"},
    Column<Task>{"fallbacks", "Fallback", Unit::count, 12, events_of<&Task::fallbacks>,
                 "allocations from blocks of another migrate type (mm_page_alloc_extfrag)"},
    Column<Task>{"fallback-pages", "pages", Unit::count, 23, pages_of<&Task::fallbacks>,
                 "pages of the free blocks used by fallbacks"},
    Column<Task>{"causing", "Causing", Unit::count, 13, events_of<&Task::fragmenting>,
                 "fallbacks that cause fragmentation: the free block was smaller than a page block"},
    Column<Task>{"causing-pages", "pages", Unit::count, 24, pages_of<&Task::fragmenting>,
                 "pages of the free blocks used by fragmenting fallbacks"},
    Column<Task>{"changed", "Changed", Unit::count, 14, events_of<&Task::ownership_changed>,
                 "fallbacks that changed the migrate type of the whole page block"},
    Column<Task>{"changed-pages", "pages", Unit::count, 25, pages_of<&Task::ownership_changed>,
                 "pages of the free blocks used by these fallbacks"},
    Column<Task>{"severe", "Severe", Unit::count, 5, events_of<&Task::severe>,
                 "fragmenting fallbacks to blocks of order 3 or less, which mix types in small pieces"},
    Column<Task>{"severe-pages", "pages", Unit::count, 26, pages_of<&Task::severe>,
                 "pages of the free blocks used by severe fallbacks"},
    Column<Task>{"moderate", "Moderate", Unit::count, 6, events_of<&Task::moderate>,
                 "fragmenting fallbacks to larger blocks"},
    Column<Task>{"moderate-pages", "pages", Unit::count, 27, pages_of<&Task::moderate>,
                 "pages of the free blocks used by moderate fallbacks"},
};

using Fallback = PageFallbackRow;
constexpr std::array kFallbackColumns = {
    Column<Fallback>{"type", "Migrate type", Unit::text, 0,
                     [](const Fallback& row) { return Cell{std::string_view(row.migrate_type_name)}; },
                     "the requested migrate type"},
    Column<Fallback>{"from", "Took from", Unit::text, 0,
                     [](const Fallback& row) { return Cell{std::string_view(row.from_name)}; },
                     "the migrate type of the free block that was used"},
    Column<Fallback>{"fallbacks", "Fallbacks", Unit::count, 1,
                     [](const Fallback& row) { return events_of<&Fallback::fallbacks>(row); }, "number of fallbacks"},
    Column<Fallback>{"pages", "Pages", Unit::count, 6,
                     [](const Fallback& row) { return pages_of<&Fallback::fallbacks>(row); },
                     "pages of the free blocks that were used"},
    Column<Fallback>{"causing", "Causing", Unit::count, 4,
                     [](const Fallback& row) { return events_of<&Fallback::fragmenting>(row); },
                     "fallbacks that cause fragmentation"},
    Column<Fallback>{"severe", "Severe", Unit::count, 2,
                     [](const Fallback& row) { return events_of<&Fallback::severe>(row); },
                     "fragmenting fallbacks to blocks of order 3 or less"},
    Column<Fallback>{"moderate", "Moderate", Unit::count, 3,
                     [](const Fallback& row) { return events_of<&Fallback::moderate>(row); },
                     "fragmenting fallbacks to larger blocks"},
    Column<Fallback>{"changed", "Changed", Unit::count, 5,
                     [](const Fallback& row) { return events_of<&Fallback::ownership_changed>(row); },
                     "fallbacks that changed the whole page block to the requested migrate type"},
};

using Failure = PageFailureRow;
constexpr std::array kFailureColumns = {
    Column<Failure>{"task", "Task", Unit::text, 0, [](const Failure& row) { return Cell{std::string_view(row.task)}; },
                    "the requesting task"},
    Column<Failure>{"order", "Order", Unit::order, 1, number<&Failure::order>, "2^order pages were requested"},
    Column<Failure>{"gfp", "GFP flags", Unit::address, 8, number<&Failure::gfp_flags>, "GFP flags of the request"},
    Column<Failure>{"gfp-names", "Names", Unit::text, 3,
                    [](const Failure& row) { return Cell{std::string_view(row.gfp_names)}; }, "names of the GFP flags"},
    Column<Failure>{"type", "Migrate type", Unit::text, 4,
                    [](const Failure& row) { return Cell{std::string_view(row.migrate_type_name)}; },
                    "the requested migrate type"},
    Column<Failure>{"count", "Count", Unit::count, 0, number<&Failure::count>, "number of failures"},
};

}  // namespace

std::span<const Column<PageTaskRow>> page_task_columns() { return kTaskColumns; }
std::span<const Column<PageFallbackRow>> page_fallback_columns() { return kFallbackColumns; }
std::span<const Column<PageFailureRow>> page_failure_columns() { return kFailureColumns; }

const Column<PageTaskRow>* find_page_task_column(std::string_view key) {
  for (const Column<PageTaskRow>& column : kTaskColumns)
    if (column.key == key) return &column;
  return nullptr;
}

std::vector<const PageTaskRow*> sorted_page_tasks(const std::vector<PageTaskRow>& rows, const Column<PageTaskRow>& by) {
  std::vector<const PageTaskRow*> sorted;
  sorted.reserve(rows.size());
  for (const PageTaskRow& row : rows) sorted.push_back(&row);
  std::sort(sorted.begin(), sorted.end(), [&by](const PageTaskRow* a, const PageTaskRow* b) {
    const Cell left = by.get(*a);
    const Cell right = by.get(*b);
    if (left != right) return by.unit == Unit::text ? left < right : left > right;
    return std::tie(b->allocated.pages, a->task) < std::tie(a->allocated.pages, b->task);
  });
  return sorted;
}

void add_up(PageTaskRow& sum, const PageTaskRow& row) {
  for (const auto member :
       {&Task::allocated, &Task::failed, &Task::zone_locked, &Task::refilled, &Task::freed, &Task::freed_batched,
        &Task::drained, &Task::fallbacks, &Task::fragmenting, &Task::severe, &Task::moderate, &Task::ownership_changed})
    sum.*member += row.*member;
  for (const auto member : {&Task::refill_runs, &Task::drain_runs, &Task::live_pages}) sum.*member += row.*member;
}

}  // namespace kmt
