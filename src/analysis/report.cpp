// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "analysis/freed_by.hpp"
#include "analysis/memory_state.hpp"
#include "analysis/page_matcher.hpp"
#include "analysis/slab_matcher.hpp"
#include "analysis/trace_summary.hpp"

namespace kmt {

namespace {

// Totals of one call site of one allocator. All sums of the report are sums over these.
struct SiteTotals {
  std::uint64_t allocations = 0;
  std::uint64_t failed_allocations = 0;
  std::uint64_t bytes_requested = 0;
  std::uint64_t bytes_allocated = 0;
  std::uint64_t frees = 0;
  std::uint64_t bytes_freed = 0;
  std::uint64_t cross_cpu_frees = 0;
  std::uint64_t live_allocations = 0;
  std::uint64_t live_bytes = 0;

  bool empty() const { return allocations == 0 && failed_allocations == 0; }
};

// What was seen of one allocator.
struct Books {
  SlabMatcher objects;
  std::vector<SiteTotals> sites;  // by call site
  std::uint64_t unmatched_frees = 0;
  std::uint64_t null_frees = 0;

  SiteTotals& site(CallSiteId id) {
    if (sites.size() <= id.value) sites.resize(id.value + std::size_t{1});
    return sites[id.value];
  }
  AllocatorTotals totals() const;
};

AllocatorTotals Books::totals() const {
  AllocatorTotals totals;
  for (const SiteTotals& site : sites) {
    totals.allocations += site.allocations;
    totals.failed_allocations += site.failed_allocations;
    totals.bytes_requested += site.bytes_requested;
    totals.bytes_allocated += site.bytes_allocated;
    totals.bytes_freed += site.bytes_freed;
    totals.live_allocations += site.live_allocations;
    totals.live_bytes += site.live_bytes;
    totals.matched_frees += site.frees;
    totals.cross_cpu_frees += site.cross_cpu_frees;
  }
  totals.unmatched_frees = unmatched_frees;
  totals.frees = totals.matched_frees + totals.unmatched_frees;
  totals.null_frees = null_frees;
  return totals;
}

// A row for every call site that asked for memory.
std::vector<CallSiteRow> rows_of(const Books& books, const TraceInfo& info, const SymbolNames& symbols) {
  std::vector<CallSiteRow> rows;
  for (std::size_t id = 0; id < books.sites.size(); ++id) {
    const SiteTotals& site = books.sites[id];
    if (site.empty()) continue;
    CallSiteRow row;
    row.address = info.call_sites[id];
    row.symbol = symbols.name(row.address);
    row.allocations = site.allocations;
    row.frees = site.frees;
    row.failed_allocations = site.failed_allocations;
    row.bytes_requested = site.bytes_requested;
    row.bytes_allocated = site.bytes_allocated;
    row.live_allocations = site.live_allocations;
    row.live_bytes = site.live_bytes;
    row.cross_cpu_frees = site.cross_cpu_frees;
    rows.push_back(std::move(row));
  }
  return rows;
}

// How far ahead the pointer table's cache lines are fetched: about the time of one miss.
constexpr std::size_t kPrefetchDistance = 12;

}  // namespace

struct ReportAnalysis::State {
  State(const TraceInfo& trace_info, ReportFilter wanted)
      : info(trace_info),
        filter(std::move(wanted), trace_info),
        cache_object_may_be_kfreed(kfree_takes_cache_objects(trace_info.kernel)),
        frames(trace_info.page_identity) {}

  void add(const Event& event);
  void add_allocation(const Event& event, bool selected);
  void add_free(const Event& event, bool selected);
  void add_page_allocation(const Event& event, bool selected);
  void add_page_free(const Event& event, bool selected);
  Books& books(Allocator allocator) { return all_books[static_cast<std::size_t>(allocator)]; }
  void count(Imperfection kind) { ++anomalies[static_cast<std::size_t>(kind)]; }

  const TraceInfo& info;
  EventFilter filter;
  bool cache_object_may_be_kfreed;

  EventSpan span;
  std::vector<std::uint64_t> events_of_type;
  std::array<Books, kAllocators> all_books;
  std::uint64_t cross_node_allocations = 0;
  PageMatcher frames;
  std::array<PageOrderRow, kMostPageOrder + 1> orders{};
  std::uint64_t pages_freed = 0;  // that had been allocated in the trace
  std::array<std::uint64_t, kImperfections.size()> anomalies{};
};

void ReportAnalysis::State::add(const Event& event) {
  if (!filter.in_window(event)) return;
  const bool selected = filter.selects(event);
  if (selected) {
    span.add(event);
    if (events_of_type.size() <= event.type.value) events_of_type.resize(info.event_types.size());
    ++events_of_type[event.type.value];
  }
  switch (event.kind) {
    case EventKind::kmalloc:
    case EventKind::cache_alloc:
    case EventKind::percpu_alloc:
    case EventKind::vmap_alloc: add_allocation(event, selected); break;
    case EventKind::kfree:
    case EventKind::cache_free:
    case EventKind::percpu_free:
    case EventKind::vmap_free: add_free(event, selected); break;
    case EventKind::page_alloc: add_page_allocation(event, selected); break;
    case EventKind::page_free: add_page_free(event, selected); break;
    default: break;
  }
}

void ReportAnalysis::State::add_allocation(const Event& event, bool selected) {
  Books& of = books(allocator_of(event.kind));
  SiteTotals& totals = of.site(event.call_site);
  if (event.address == 0) {
    if (selected) ++totals.failed_allocations;
    return;
  }
  const SlabMatcher::Allocation allocation = of.objects.allocate(event, selected);
  if (allocation.replaced && allocation.object.selected) {
    SiteTotals& old = of.sites[allocation.object.call_site.value];
    --old.live_allocations;
    old.live_bytes -= allocation.object.bytes_allocated;
    count(Imperfection::allocation_on_live_pointer);
  }
  if (!selected) return;
  ++totals.allocations;
  totals.bytes_requested += event.bytes_requested;
  totals.bytes_allocated += event.bytes_allocated;
  ++totals.live_allocations;
  totals.live_bytes += event.bytes_allocated;
  if (!is_slab_alloc(event.kind)) return;
  if (event.bytes_allocated < event.bytes_requested) count(Imperfection::allocated_less_than_requested);
  if (event.node != kNoNode && event.cpu < info.cpu_nodes.size() && info.cpu_nodes[event.cpu] != event.node)
    ++cross_node_allocations;
}

void ReportAnalysis::State::add_free(const Event& event, bool selected) {
  Books& of = books(allocator_of(event.kind));
  const auto [outcome, object] = of.objects.release(event);
  switch (outcome) {
    case FreeOutcome::zero_size: return;
    case FreeOutcome::null:
      if (selected) ++of.null_frees;
      return;
    case FreeOutcome::matched: {
      if (!object.selected) return;
      SiteTotals& totals = of.sites[object.call_site.value];
      ++totals.frees;
      totals.bytes_freed += object.bytes_allocated;
      --totals.live_allocations;
      totals.live_bytes -= object.bytes_allocated;
      if (object.cpu != event.cpu) ++totals.cross_cpu_frees;
      if (is_slab_free(event.kind) && freed_by_wrong_family(object, event, cache_object_may_be_kfreed))
        count(Imperfection::freed_by_another_family);
      return;
    }
    case FreeOutcome::allocated_before_trace:
    case FreeOutcome::double_or_untraced:
      if (!selected) return;
      ++of.unmatched_frees;
      count(outcome == FreeOutcome::allocated_before_trace ? Imperfection::allocated_before_trace
                                                           : Imperfection::double_free_or_untraced_allocation);
      return;
  }
}

void ReportAnalysis::State::add_page_allocation(const Event& event, bool selected) {
  if (event.order > kMostPageOrder) {
    if (selected) count(Imperfection::impossible_order);
    return;
  }
  PageOrderRow& row = orders[event.order];
  if (event.address == kNoPage) {
    if (selected) ++row.failed_allocations;
    return;
  }
  const std::uint64_t pages = std::uint64_t{1} << event.order;
  frames.allocate(event.address, event.order, selected, [this](const LiveFrames& old, std::uint64_t lost_pages) {
    if (old.selected) orders[old.order].live_bytes -= lost_pages * info.page_size;
  });
  if (!selected) return;
  ++row.allocations;
  row.bytes_allocated += pages * info.page_size;
  row.live_bytes += pages * info.page_size;
}

void ReportAnalysis::State::add_page_free(const Event& event, bool selected) {
  if (event.order > kMostPageOrder) {
    if (selected) count(Imperfection::impossible_order);
    return;
  }
  bool of_selected = false;
  bool of_known = false;
  frames.release(event.address, event.order, [&](const LiveFrames& block, std::uint64_t pages) {
    of_known = true;
    if (!block.selected) return;
    of_selected = true;
    pages_freed += pages;
    orders[block.order].live_bytes -= pages * info.page_size;
  });
  if (of_selected || (!of_known && selected)) ++orders[event.order].frees;
}

ReportAnalysis::ReportAnalysis(const TraceInfo& info, ReportFilter filter)
    : state_(std::make_unique<State>(info, std::move(filter))) {}
ReportAnalysis::~ReportAnalysis() = default;

void ReportAnalysis::add(const EventBatch& batch) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (i + kPrefetchDistance < batch.size())
      state_->books(Allocator::slab).objects.prefetch(batch[i + kPrefetchDistance]);
    state_->add(batch[i]);
  }
}

ReportResult ReportAnalysis::finish(const SymbolNames& symbols) {
  State& state = *state_;
  ReportResult result;
  result.trace = summarize(state.info);
  state.span.store_in(result.trace);

  for (std::size_t type = 0; type < state.events_of_type.size(); ++type) {
    if (state.events_of_type[type] == 0) continue;
    const std::string& name = state.info.event_types[type].name;
    // Events of two systems may share a name.
    const auto same = std::find_if(result.events.begin(), result.events.end(),
                                   [&name](const auto& entry) { return entry.first == name; });
    if (same == result.events.end())
      result.events.emplace_back(name, state.events_of_type[type]);
    else
      same->second += state.events_of_type[type];
  }
  std::stable_sort(result.events.begin(), result.events.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });

  const Books& slab = state.books(Allocator::slab);
  static_cast<AllocatorTotals&>(result.slab) = slab.totals();
  if (!state.info.cpu_nodes.empty()) result.slab.cross_node_allocations = state.cross_node_allocations;
  result.call_sites = rows_of(slab, state.info, symbols);

  const Books& percpu = state.books(Allocator::percpu);
  result.percpu = percpu.totals();
  // Every allocation of a kernel that says it takes some.
  result.percpu.knows_bytes = result.percpu.allocations == 0 || result.percpu.bytes_allocated > 0;
  result.percpu_call_sites = rows_of(percpu, state.info, symbols);
  for (CallSiteRow& row : result.percpu_call_sites) {
    row.knows_bytes = result.percpu.knows_bytes;
    if (row.address == 0) row.symbol = "unknown";
  }
  result.vmalloc = state.books(Allocator::vmap).totals();

  result.memory = memory_state_of(state.info.samples);

  PageTotals& pages = result.pages;
  for (unsigned order = 0; order < state.orders.size(); ++order) {
    PageOrderRow row = state.orders[order];
    row.order = order;
    pages.allocations += row.allocations;
    pages.frees += row.frees;
    pages.failed_allocations += row.failed_allocations;
    pages.bytes_allocated += row.bytes_allocated;
    pages.live_bytes += row.live_bytes;
    if (row.allocations + row.failed_allocations + row.frees > 0) result.page_orders.push_back(row);
  }
  pages.bytes_freed = state.pages_freed * state.info.page_size;

  for (std::size_t kind = 0; kind < state.anomalies.size(); ++kind)
    if (state.anomalies[kind] > 0) result.anomalies.emplace_back(kImperfections[kind].id, state.anomalies[kind]);
  result.findings = findings_of(state.info);
  return result;
}

}  // namespace kmt
