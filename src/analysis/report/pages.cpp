// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/pages.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/matching/page_matcher.hpp"
#include "analysis/matching/trace_summary.hpp"
#include "results/report/pages_columns.hpp"
#include "trace/kernel_release.hpp"

namespace kmt {

namespace {

constexpr unsigned kMostSevereOrder = 3;  // order (2^order pages): PAGE_ALLOC_COSTLY_ORDER, which the kernel's script
                                          // uses as limit too

// Origin of live pages if the filter excludes their allocation.
constexpr std::uint32_t kNotSelected = ~std::uint32_t{0};

// The task or interrupt that an event belongs to. A task is its thread ID; an interrupt is a number below all thread
// IDs. interrupt_name() checks the same context bits.
using Doer = std::int64_t;
constexpr Doer kInterrupts = std::int64_t{-1} << 40;

Doer doer_of(const Event& event) {
  for (const std::uint8_t bit : {Context::kNmi, Context::kHardIrq, Context::kSoftIrq})
    if ((event.context & bit) != 0) return kInterrupts + bit;
  return event.tid;
}

// Returns the pageblock order if all kernels of the architecture have the same order; based on Linux 6.1. On x86-64 and
// arm64, the order is PMD_SHIFT - PAGE_SHIFT: a pageblock has as many pages as a page table has entries of 8 bytes.
// arm64 with 16 and 64 KiB pages raises MAX_ORDER to that order. s390 uses huge pages of 1 MiB (HPAGE_SHIFT).
std::optional<unsigned> pageblock_order_of_arch(const TraceInfo& info) {
  constexpr std::uint64_t kLeast = 4096;
  constexpr std::uint64_t kMost = 65536;
  if (info.machine.arch.starts_with("s390")) return 8;
  if (info.machine.page_size < kLeast || info.machine.page_size > kMost) return std::nullopt;
  if (info.machine.arch == "x86_64" || info.machine.arch == "aarch64" || info.machine.arch == "arm64")
    return static_cast<unsigned>(std::bit_width(info.machine.page_size / 8)) - 1;
  return std::nullopt;
}

// The pageblock order that is assumed if the trace does not show it. i386 without PAE has order 10; on powerpc the
// order depends on the MMU.
constexpr unsigned kMostCommonPageblockOrder = 9;

std::optional<unsigned> nodes_with_cpus(const TraceInfo& info) {
  std::set<std::int16_t> nodes(info.machine.cpu_nodes.begin(), info.machine.cpu_nodes.end());
  nodes.erase(kNoNode);
  if (nodes.empty()) return std::nullopt;
  return static_cast<unsigned>(nodes.size());
}

template <typename Row>
void count_fallback(const Event& event, unsigned pageblock_order, Row& row) {
  row.fallbacks.add(event.fallback_order);
  if (event.fallback_order < pageblock_order) {
    row.fragmenting.add(event.fallback_order);
    (event.fallback_order <= kMostSevereOrder ? row.severe : row.moderate).add(event.fallback_order);
  }
  if ((event.page_flags & PageFlags::kOwnershipChanged) != 0) row.ownership_changed.add(event.fallback_order);
}

}  // namespace

struct PagesAnalysis::State {
  // Counts of the events of one task or interrupt under one name. If a task is renamed, a new part starts.
  struct Part {
    Doer doer = 0;
    std::uint64_t first_ns = 0;
    PageTaskRow row;
  };
  struct Named {
    std::string name;
    std::uint32_t part = 0;
  };
  // Counts of allocations with equal part, order and migrate type.
  struct Group {
    std::uint32_t part = 0;
    std::uint8_t order = 0;
    std::int8_t migrate_type = 0;
    std::uint64_t allocations = 0;
    std::uint64_t failed_allocations = 0;
    std::uint64_t live_pages = 0;
  };
  struct Failures {
    std::uint64_t count = 0;
    std::uint64_t first_ns = 0;
    std::uint64_t last_ns = 0;
  };
  // part (see above), order, GFP flags, migrate type
  using FailureKey = std::tuple<std::uint32_t, std::uint8_t, std::uint32_t, std::int8_t>;

  State(const TraceInfo& trace_info, const TraceTasks& trace_tasks, const SymbolNames& symbols, ReportFilter wanted)
      : info(trace_info),
        tasks(trace_tasks),
        caches(trace_info),
        filter(std::move(wanted), trace_info, trace_tasks, symbols, caches),
        known_pageblock_order(trace_info.machine.pageblock_order ? trace_info.machine.pageblock_order
                                                                 : pageblock_order_of_arch(trace_info)),
        pageblock_order(known_pageblock_order.value_or(kMostCommonPageblockOrder)),
        frames(trace_info.recording.page_identity) {}

  void add(const Event& event);
  void count(const Event& event, PageTaskRow& row);
  void match(const Event& event, bool selected, std::uint32_t part);
  void count_failure(const Event& event, std::uint32_t part);
  bool begins_run(const Event& event);
  std::uint32_t part_of(const Event& event);
  std::uint32_t group_of(const Event& event, std::uint32_t part);
  PageTaskRow named(const Part& part) const;
  std::string type_name(int type) const { return migrate_type_name(type, info.machine.kernel); }
  // Adds a row for each task. Returns the task name of each part, by index.
  std::vector<std::string> add_tasks(PagesResult& result);
  void add_types(PagesResult& result) const;
  void add_fallbacks(PagesResult& result) const;
  void add_failures(PagesResult& result, const std::vector<std::string>& task_of_part) const;

  const TraceInfo& info;
  const TraceTasks& tasks;
  CacheNames caches;
  EventFilter filter;
  bool begun = false;
  std::optional<unsigned> known_pageblock_order;
  unsigned pageblock_order;
  PageMatcher frames;
  EventSpan seen;  // all events within the time window
  EventSpan span;  // selected page events
  std::uint64_t impossible_orders = 0;
  std::vector<Part> parts;
  std::unordered_map<Doer, Named> current;                   // current part of each task or interrupt
  std::map<std::pair<Doer, std::uint32_t>, EventKind> last;  // kind of the last event, by task or interrupt and CPU
  std::vector<Group> groups;
  std::map<std::tuple<std::uint32_t, std::uint8_t, std::int8_t>, std::uint32_t> group_numbers;
  std::map<FailureKey, Failures> failures;
  // Key: the requested migrate type, and the migrate type of the pages that were used instead.
  std::map<std::pair<int, unsigned>, PageFallbackRow> fallbacks;
};

void PagesAnalysis::State::add(const Event& event) {
  if (!filter.in_window(event.time_ns)) return;
  seen.add(event);
  if (!is_page_event(event.kind) || frames.is_listed_again(event)) return;
  const bool selected = filter.selects(event);
  if (std::max(event.order, event.fallback_order) > kMostPageOrder) {
    if (selected) ++impossible_orders;
    return;
  }
  std::uint32_t part = 0;
  if (selected) {
    span.add(event);
    part = part_of(event);
    count(event, parts[part].row);
  }
  match(event, selected, part);
}

void PagesAnalysis::State::count(const Event& event, PageTaskRow& row) {
  const bool begins = begins_run(event);
  const bool has_page = event.address != kNoPage;
  switch (event.kind) {
    case EventKind::page_alloc: (has_page ? row.allocated : row.failed).add(event.order); break;
    case EventKind::page_free: row.freed.add(event.order); break;
    case EventKind::page_free_batched: row.freed_batched.add(event.order); break;
    case EventKind::page_pcpu_drain:
      row.drained.add(event.order);
      row.drain_runs += begins ? 1 : 0;
      break;
    case EventKind::page_alloc_zone_locked:
      row.refill_runs += begins ? 1 : 0;
      ++row.zone_locked.events;
      if (has_page) row.zone_locked.pages += std::uint64_t{1} << event.order;
      if (has_page && (event.page_flags & PageFlags::kPercpuRefill) != 0) row.refilled.add(event.order);
      break;
    case EventKind::page_alloc_extfrag:
      count_fallback(event, pageblock_order, row);
      count_fallback(event, pageblock_order, fallbacks[{event.migrate_type, fallback_migrate_type(event)}]);
      break;
    default: break;
  }
}

void PagesAnalysis::State::match(const Event& event, bool selected, std::uint32_t part) {
  const auto released = [this](const LiveFrames& block, std::uint64_t pages) {
    if (block.origin != kNotSelected) groups[block.origin].live_pages -= pages;
  };
  if (event.kind == EventKind::page_free) frames.release(event.address, event.order, released);
  if (event.kind != EventKind::page_alloc) return;
  const std::uint32_t group = selected ? group_of(event, part) : kNotSelected;
  if (event.address == kNoPage) {
    if (!selected) return;
    ++groups[group].failed_allocations;
    count_failure(event, part);
    return;
  }
  frames.allocate(event, group, released);
  if (!selected) return;
  ++groups[group].allocations;
  groups[group].live_pages += std::uint64_t{1} << event.order;
}

void PagesAnalysis::State::count_failure(const Event& event, std::uint32_t part) {
  Failures& alike = failures[{part, event.order, event.gfp_flags, event.migrate_type}];
  if (alike.count++ == 0) alike.first_ns = event.time_ns;
  alike.last_ns = event.time_ns;
}

bool PagesAnalysis::State::begins_run(const Event& event) {
  const Doer doer = doer_of(event);
  const std::uint32_t cpu = doer <= 0 ? event.cpu : 0;  // idle tasks and interrupts are followed separately on each CPU
  const auto [kind, inserted] = last.try_emplace({doer, cpu}, event.kind);
  return inserted || std::exchange(kind->second, event.kind) != event.kind;
}

// Returns the current part of the event's task or interrupt. Starts a new part if a task was renamed.
std::uint32_t PagesAnalysis::State::part_of(const Event& event) {
  const Doer doer = doer_of(event);
  const std::string_view name = doer == event.tid ? task_name(tasks, event.tid, event.time_ns) : std::string_view();
  const auto [named, inserted] = current.try_emplace(doer);
  if (inserted || named->second.name != name) {
    named->second = {std::string(name), static_cast<std::uint32_t>(parts.size())};
    PageTaskRow row;
    if (const char* const interrupt = interrupt_name(event))
      row.comm = interrupt;
    else
      row.tid = event.tid;
    parts.push_back({doer, event.time_ns, std::move(row)});
  }
  return named->second.part;
}

std::uint32_t PagesAnalysis::State::group_of(const Event& event, std::uint32_t part) {
  const auto [number, inserted] =
      group_numbers.try_emplace({part, event.order, event.migrate_type}, static_cast<std::uint32_t>(groups.size()));
  if (inserted) groups.push_back({part, event.order, event.migrate_type, 0, 0, 0});
  return number->second;
}

PageTaskRow PagesAnalysis::State::named(const Part& part) const {
  PageTaskRow row = part.row;
  if (row.tid) row.comm = task_name(tasks, *row.tid, part.first_ns);
  row.task = row.tid ? fmt::format("{}-{}", row.comm, *row.tid) : row.comm;
  return row;
}

PagesAnalysis::PagesAnalysis(const TraceInfo& info, const TraceTasks& tasks, const SymbolNames& symbols,
                             ReportFilter filter)
    : state_(std::make_unique<State>(info, tasks, symbols, std::move(filter))) {}
PagesAnalysis::~PagesAnalysis() = default;

void PagesAnalysis::add(const EventBatch& batch) {
  if (!state_->begun && !batch.empty()) state_->filter.begin(batch.front().time_ns);
  state_->begun = state_->begun || !batch.empty();
  for (const Event& event : batch) state_->add(event);
}

std::vector<std::string> PagesAnalysis::State::add_tasks(PagesResult& result) {
  std::map<std::pair<Doer, std::string>, PageTaskRow> rows;
  std::vector<std::string> task_of_part;
  for (const Group& group : groups) parts[group.part].row.live_pages += group.live_pages;
  for (const Part& part : parts) {
    PageTaskRow row = named(part);
    task_of_part.push_back(row.task);
    add_up(result.total, row);
    const auto [same, inserted] = rows.try_emplace({part.doer, row.comm}, row);
    if (!inserted) add_up(same->second, row);
  }
  result.total.task = "total";
  for (auto& [key, row] : rows) result.tasks.push_back(std::move(row));
  return task_of_part;
}

void PagesAnalysis::State::add_types(PagesResult& result) const {
  std::map<std::pair<unsigned, int>, PageTypeRow> types;
  for (const Group& group : groups) {
    PageTypeRow& row = types[{group.order, group.migrate_type}];
    row.allocations += group.allocations;
    row.failed_allocations += group.failed_allocations;
    row.bytes_allocated += (group.allocations << group.order) * info.machine.page_size;
    row.live_bytes += group.live_pages * info.machine.page_size;
  }
  for (auto& [key, row] : types) {
    std::tie(row.order, row.migrate_type) = key;
    row.migrate_type_name = type_name(row.migrate_type);
    result.types.push_back(std::move(row));
  }
}

void PagesAnalysis::State::add_fallbacks(PagesResult& result) const {
  for (const auto& [key, counts] : fallbacks) {
    PageFallbackRow& row = result.fallbacks.emplace_back(counts);
    row.migrate_type = key.first;
    row.migrate_type_name = type_name(row.migrate_type);
    row.from = static_cast<int>(key.second);
    row.from_name = type_name(row.from);
  }
}

void PagesAnalysis::State::add_failures(PagesResult& result, const std::vector<std::string>& task_of_part) const {
  std::map<std::tuple<std::string, unsigned, std::uint32_t, int>, PageFailureRow> rows;
  for (const auto& [key, alike] : failures) {
    const auto [part, order, gfp_flags, type] = key;
    const auto [same, inserted] = rows.try_emplace({task_of_part[part], order, gfp_flags, type});
    PageFailureRow& row = same->second;
    row.count += alike.count;
    row.first_ns = inserted ? alike.first_ns : std::min(row.first_ns, alike.first_ns);
    row.last_ns = std::max(row.last_ns, alike.last_ns);
  }
  for (auto& [key, row] : rows) {
    std::tie(row.task, row.order, row.gfp_flags, row.migrate_type) = key;
    row.gfp_names = gfp_text(info.tables.gfp_flags, row.gfp_flags);
    row.migrate_type_name = type_name(row.migrate_type);
    result.failures.push_back(std::move(row));
  }
  std::stable_sort(result.failures.begin(), result.failures.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
}

PagesResult PagesAnalysis::finish(bool complete) {
  State& state = *state_;
  PagesResult result;
  result.trace = summarize(state.info);
  state.span.store_in(result.trace);
  result.trace.complete = complete;
  result.trace.recorded_ns = recorded_time(state.info, state.seen, state.filter, complete).length_ns();
  result.findings = findings_of(state.info);
  result.nodes = nodes_with_cpus(state.info);
  result.pageblock_order = state.pageblock_order;
  result.pageblock_order_assumed = !state.info.machine.pageblock_order;
  if (state.impossible_orders > 0)
    result.anomalies.emplace_back(describe(Imperfection::impossible_order).id, state.impossible_orders);

  const std::vector<std::string> task_of_part = state.add_tasks(result);
  state.add_types(result);
  state.add_fallbacks(result);
  state.add_failures(result, task_of_part);
  if (result.total.severe.events > 0 && state.known_pageblock_order)
    result.min_free_kbytes_step =
        3 * (state.info.machine.page_size << state.pageblock_order) * result.nodes.value_or(1) / 1024;
  return result;
}

}  // namespace kmt
