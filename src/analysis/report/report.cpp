// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/report.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/matching/freed_by.hpp"
#include "analysis/matching/missing_frees.hpp"
#include "analysis/matching/trace_summary.hpp"
#include "analysis/report/history.hpp"
#include "analysis/report/known_causes.hpp"
#include "analysis/report/ledger.hpp"
#include "analysis/report/missing_parts.hpp"
#include "analysis/report/most_live.hpp"
#include "analysis/report/older_objects.hpp"
#include "analysis/series/memory_state.hpp"
#include "trace/kernel_release.hpp"

namespace kmt {

namespace {

LedgerOptions ledger_options(const TraceInfo& info, const ReportRequest& request) {
  return {.page_size = info.machine.page_size,
          .cpu_nodes = info.machine.cpu_nodes,
          .cache_object_may_be_kfreed = kfree_takes_cache_objects(info.machine.kernel),
          .recorder = RecorderTasks(info),
          .by_lifetime = std::find(request.by.begin(), request.by.end(), GroupKey::lifetime) != request.by.end(),
          .by_freer = std::ranges::any_of(request.by, [](GroupKey key) { return key_of_free(key).has_value(); }),
          .history = request.history,
          .traffic = request.traffic,
          .window = request.window,
          .count_duplicates = request.count_duplicates,
          .cpu_page_lists = cpu_page_lists(info)};
}

GroupRow row_of(const Account& account, std::vector<KeyValue> keys) {
  GroupRow row;
  row.keys = std::move(keys);
  for (const KeyValue& key : row.keys) row.name += (row.name.empty() ? "" : ", ") + plain_text(key);
  static_cast<AllocationSums&>(row) = static_cast<const AllocationSums&>(account);
  row.peak_bytes = account.peak_bytes;
  row.peak_ns = account.peak_ns;
  row.first_ns = account.first_ns;
  row.last_ns = account.last_ns;
  row.cross_node_frees = account.cross_node_frees;
  row.lifetimes = account.lifetimes;
  return row;
}

LifetimeRange lifetime_range(unsigned octave) {
  return {octave == 0 ? 0 : std::uint64_t{1} << octave, octave == 63 ? ~std::uint64_t{0} : std::uint64_t{2} << octave};
}

// False if all allocations of this group were duplicate events, which count in another group.
bool happened(const Account& account) { return account.allocations + account.failed_allocations > 0; }

// True if a group has enough allocations for a trend and still has live memory.
bool may_grow(const Account& account) {
  return account.allocations >= Histories::kFewestAllocations &&
         (account.live_bytes > 0 || account.live_allocations > 0);
}

// Returns the number of allocations and frees of slab objects, percpu memory and vmap areas. Known causes only explain
// anomalies of these three allocators.
std::uint64_t allocations_and_frees(const ReportResult& result) {
  std::uint64_t events = 0;
  for (const Allocator allocator : {Allocator::slab, Allocator::percpu, Allocator::vmap}) {
    const AllocatorTotals& totals = totals_of(result, allocator);
    events += totals.allocations + totals.frees;
  }
  return events;
}

// Returns the time at which the analysis stops because the end of the file is missing. Empty: it does not stop early.
std::optional<std::uint64_t> cut_of(const TraceInfo& info, const ReportRequest& request) {
  return request.until_cut && !request.filter.to ? info.losses.complete_until_ns : std::nullopt;
}

ReportFilter until(std::optional<std::uint64_t> cut_at_ns, ReportFilter filter) {
  if (cut_at_ns) filter.to = TimeEdge{*cut_at_ns + 1, false};
  return filter;
}

// Adds up the anomalies that have a known cause.
ExplainedAnomalies explained_of(const std::vector<AnomalyRow>& rows, std::uint64_t events) {
  ExplainedAnomalies explained;
  explained.events = events;
  for (const AnomalyRow& row : rows) {
    if (!row.explained) continue;
    if (row.kind == Imperfection::allocated_before_trace)
      explained.older_frees += row.count;
    else if (row.kind == Imperfection::allocation_on_live_pointer)
      explained.untraced_frees += row.count;
    else
      explained.untraced_allocations += row.count;
  }
  return explained;
}

}  // namespace

struct ReportAnalysis::State {
  State(const TraceInfo& trace_info, const SymbolNames& symbol_names, ReportRequest request)
      : info(trace_info),
        symbols(symbol_names),
        cut_at_ns(cut_of(trace_info, request)),
        caches(trace_info),
        grouping(request.by, trace_info, request.tasks ? *request.tasks : trace_info.tasks, symbol_names, caches,
                 std::move(request.find_caller),
                 {request.tree, request.with_interrupted, request.history || request.live_pages,
                  request.holders || request.most_live, request.holders, request.names_unknown_owners}),
        classifier(EventFilter(until(cut_at_ns, std::move(request.filter)), trace_info,
                               request.tasks ? *request.tasks : trace_info.tasks, symbol_names, caches),
                   grouping),
        matching(trace_info.recording.page_identity, trace_info.machine.page_size),
        ledger(ledger_options(trace_info, request)),
        causes(trace_info, symbol_names),
        movable(movable_type(trace_info.machine.kernel)),
        names_most_live(request.most_live),
        sums_live_pages(request.live_pages),
        history_of_live(request.history_of_live),
        judges_reclaimable(request.judges_reclaimable) {}

  AllocatorTotals totals_of(Allocator allocator) const;
  PageTotals page_totals() const;
  std::vector<GroupTable> tables() const;
  void add_rows(std::uint32_t group, std::vector<GroupRow>& rows) const;
  void add_freed_rows(std::uint32_t group, const std::vector<KeyValue>& keys, std::vector<GroupRow>& rows) const;
  void complete_rows(ReportResult& result) const;
  std::vector<std::pair<std::string, std::uint64_t>> event_counts() const;
  std::uint64_t count_calls() const;
  Activity activity(const EventCounts& seen) const;
  std::vector<AnomalyRow> anomaly_rows();
  bool is_explained(const AnomalyKey& key);
  void count_live(std::uint64_t end_ns);
  void add_live_pages(const Origin& origin, std::uint64_t bytes);
  void find_maybe_freed();
  OlderObjectsOfTrace older() const;
  CodeAddress code_address(std::uint32_t call_site) const;
  std::vector<std::uint32_t> groups_to_follow(Histories& common) const;
  std::optional<MostLive> find_most_live() const;
  std::optional<Histories> make_histories(std::uint64_t end_ns);
  std::optional<TrafficOverTime> make_traffic(std::uint64_t end_ns);

  const TraceInfo& info;
  const SymbolNames& symbols;
  std::optional<std::uint64_t> cut_at_ns;
  CacheNames caches;
  Grouping grouping;
  Classifier classifier;
  Matching matching;
  const Matching* used_matching = &matching;  // may be that of another report
  Ledger ledger;
  const Totals* used_totals = &*ledger.totals();  // may be those of another report
  KnownCauses causes;
  std::vector<LiveCount> live;  // index: number of the origin; value: its live memory; excludes pages
  // Index: number of the origin. Value: its live memory whose free may be among the lost events.
  std::vector<LiveCount> older_than_loss;
  std::vector<LiveCount> maybe_freed;  // index: group
  LivePages live_pages;
  int movable;  // number of the migrate type Movable
  bool names_most_live;
  bool sums_live_pages;
  bool history_of_live;
  bool judges_reclaimable;
  MatchedBatch batch;                    // only used by add()
  BatchOrigins batch_origins;            // only used by add()
  std::vector<SharedHistory> histories;  // index: group; empty if histories were not requested
  std::vector<SharedTraffic> traffic;    // index: group; empty if traffic was not requested
};

ReportAnalysis::ReportAnalysis(const TraceInfo& info, const SymbolNames& symbols, ReportRequest request)
    : state_(std::make_unique<State>(info, symbols, std::move(request))) {}
ReportAnalysis::~ReportAnalysis() = default;

CacheNames& ReportAnalysis::cache_names() { return state_->caches; }

void ReportAnalysis::run_stage(unsigned stage, MatchedBatch& batch, BatchOrigins& origins) {
  if (stage == 0)
    state_->classifier.classify(batch, origins);
  else if (stage <= kUnits)
    state_->matching.match(batch, stage - 1);
  else
    state_->ledger.add(batch, origins);
}

bool ReportAnalysis::selects_like(const ReportAnalysis& other) const {
  return state_->classifier.filter().wanted() == other.state_->classifier.filter().wanted();
}

void ReportAnalysis::share_matching(const ReportAnalysis& first) {
  state_->used_matching = &first.state_->matching;
  state_->used_totals = first.state_->used_totals;
  state_->ledger.leave_totals_out();
}

Classifier& ReportAnalysis::classifier() { return state_->classifier; }

void ReportAnalysis::add(const EventBatch& batch) {
  state_->batch.events = batch;
  for (unsigned stage = 0; stage < kStages; ++stage) run_stage(stage, state_->batch, state_->batch_origins);
}

AllocatorTotals ReportAnalysis::State::totals_of(Allocator allocator) const {
  AllocatorTotals totals;
  for (std::uint32_t group = 0; group < ledger.accounts().size(); ++group) {
    if (grouping.allocator_of_group(group) != allocator) continue;
    const Account& account = ledger.accounts()[group];
    totals += account;
    totals.cross_node_frees += account.cross_node_frees;
    totals.lifetimes.add(account.lifetimes);
    if (group < maybe_freed.size()) totals.maybe_freed += maybe_freed[group];
  }
  const Totals::Allocated& allocated = used_totals->of(allocator);
  totals.peak_bytes = allocated.peak_bytes;
  totals.peak_ns = allocated.peak_ns;
  totals.unmatched_frees = allocated.unmatched_frees;
  totals.frees = totals.matched_frees + totals.unmatched_frees;
  totals.null_frees = allocated.null_frees;
  return totals;
}

PageTotals ReportAnalysis::State::page_totals() const {
  PageTotals pages{totals_of(Allocator::pages)};
  pages.frees = 0;
  for (const PageOrderRow& row : used_totals->orders) pages.frees += row.frees;
  return pages;
}

std::vector<GroupTable> ReportAnalysis::State::tables() const {
  std::vector<GroupTable> tables;
  for (const Allocator allocator : {Allocator::slab, Allocator::pages, Allocator::percpu, Allocator::vmap}) {
    if (!grouping.has_groups(allocator)) continue;
    GroupTable table{allocator, {}};
    for (std::uint32_t group = 0; group < ledger.accounts().size(); ++group)
      if (grouping.allocator_of_group(group) == allocator && happened(ledger.accounts()[group]))
        add_rows(group, table.rows);
    if (!table.rows.empty()) tables.push_back(std::move(table));
  }
  return tables;
}

void ReportAnalysis::State::add_rows(std::uint32_t group, std::vector<GroupRow>& rows) const {
  const Account& account = ledger.accounts()[group];
  std::vector<KeyValue> keys = grouping.values_of(group, symbols);
  const auto is_split = [this, group](GroupKey key) {
    return is_known_when_freed(key) && applies(key, grouping.allocator_of_group(group));
  };
  if (std::ranges::none_of(grouping.by(), is_split)) {
    rows.push_back(row_of(account, std::move(keys)));
    if (group < maybe_freed.size()) rows.back().maybe_freed = maybe_freed[group];
    if (!histories.empty()) rows.back().history = histories[group];
    if (!traffic.empty()) rows.back().traffic = traffic[group];
    if (ledger.window()) rows.back().window = ledger.window()->of_group(group);
    return;
  }
  add_freed_rows(group, keys, rows);
}

// Adds a row for each combination of values of those keys that are only known at the free. Adds one more row for the
// allocations that were not freed.
void ReportAnalysis::State::add_freed_rows(std::uint32_t group, const std::vector<KeyValue>& keys,
                                           std::vector<GroupRow>& rows) const {
  const auto lifetime = std::ranges::find(grouping.by(), GroupKey::lifetime);
  const bool by_lifetime = lifetime != grouping.by().end();
  const bool knows_freed = !by_lifetime || grouping.allocator_of_group(group) != Allocator::pages;
  const std::size_t before = rows.size();
  Account rest = ledger.accounts()[group];
  const auto& freed = ledger.freed_accounts();
  for (auto part = freed.lower_bound({group, 0, 0}); part != freed.end() && part->first.group == group; ++part) {
    const auto& [end, account] = *part;
    std::vector<KeyValue> values = keys;
    if (end.freer != 0) grouping.set_freer(end.freer, symbols, values);
    if (by_lifetime) values[static_cast<std::size_t>(lifetime - grouping.by().begin())] = lifetime_range(end.octave);
    rows.push_back(row_of(account, std::move(values)));
    rest -= account;
  }
  rest.cross_node_frees = 0;
  rest.lifetimes = {};
  if (rest.allocations + rest.failed_allocations > 0 || (knows_freed && rest.live_bytes > 0)) {
    rows.push_back(row_of(rest, keys));
    rows.back().first_ns.reset();
    rows.back().last_ns.reset();
    if (group < maybe_freed.size()) rows.back().maybe_freed = maybe_freed[group];
  }
  for (std::size_t row = before; row < rows.size(); ++row) {
    rows[row].peak_bytes.reset();
    rows[row].knows_freed = knows_freed;
    // The row has no allocations, only freed pages: another task freed the first page of each of these allocations.
    if (rows[row].allocations == 0) rows[row].first_ns = rows[row].last_ns = std::nullopt;
  }
}

// Returns the number of calls. A call has an entry and an exit, unless the trace starts or ends during the call.
std::uint64_t ReportAnalysis::State::count_calls() const {
  std::uint64_t entries = 0;
  std::uint64_t exits = 0;
  const std::vector<std::uint64_t>& of_type = used_totals->selected_events.of_type;
  for (std::size_t type = 0; type < of_type.size(); ++type) {
    const EventKind kind = info.tables.event_types[type].kind;
    if (kind == EventKind::call_entry) entries += of_type[type];
    if (kind == EventKind::call_exit) exits += of_type[type];
  }
  return std::max(entries, exits);
}

std::vector<std::pair<std::string, std::uint64_t>> ReportAnalysis::State::event_counts() const {
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  const std::vector<std::uint64_t>& of_type = used_totals->selected_events.of_type;
  for (std::size_t type = 0; type < of_type.size(); ++type) {
    const std::uint64_t count = of_type[type];
    if (count == 0) continue;
    const std::string& name = info.tables.event_types[type].name;
    // Two subsystems may have events with the same name.
    const auto same =
        std::find_if(counts.begin(), counts.end(), [&name](const auto& entry) { return entry.first == name; });
    if (same == counts.end())
      counts.emplace_back(name, count);
    else
      same->second += count;
  }
  std::stable_sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return counts;
}

Activity ReportAnalysis::State::activity(const EventCounts& seen) const {
  Activity activity;
  for (std::size_t type = 0; type < seen.of_type.size(); ++type) {
    if (seen.of_type[type] == 0) continue;
    const EventType& of = info.tables.event_types[type];
    activity.events.emplace_back(of.system + ":" + of.name, seen.of_type[type]);
    if (is_allocation(of.kind) || of.kind == EventKind::page_alloc)
      activity.allocated[static_cast<std::size_t>(allocator_of(of.kind))] = true;
  }
  return activity;
}

CodeAddress ReportAnalysis::State::code_address(std::uint32_t call_site) const {
  return kmt::code_address(info.tables.call_sites[call_site], symbols);
}

bool ReportAnalysis::State::is_explained(const AnomalyKey& key) {
  const auto kind = static_cast<Imperfection>(key.kind);
  if (kind == Imperfection::allocated_before_trace) return true;
  if (static_cast<Allocator>(key.allocator) != Allocator::slab) return false;
  switch (kind) {
    case Imperfection::allocation_on_live_pointer: return causes.may_free(key.cache, {key.first_site});
    case Imperfection::double_free_or_untraced_allocation:
      return causes.may_have_allocated(key.cache, {key.second_site});
    default: return false;
  }
}

// Adds up the memory that is live at `end_ns`.
void ReportAnalysis::State::count_live(std::uint64_t end_ns) {
  live.resize(ledger.origins().size());
  older_than_loss.resize(live.size());
  const std::uint64_t lost_until_ns = frees_missing_until(info, end_ns);
  used_matching->for_each_live(
      [&](Allocator allocator, std::uint32_t number, std::uint64_t began_ns, std::uint64_t pages, bool head) {
        if (number == 0) return;
        const Origin& origin = ledger.origins()[number];
        LiveCount one{1, origin.bytes_allocated};
        if (allocator == Allocator::pages) {
          one = {head ? 1u : 0u, pages * info.machine.page_size};
          add_live_pages(origin, one.bytes);
        } else {
          live[number] += one;
        }
        ledger.add_live(origin, one, began_ns);
        if (began_ns < lost_until_ns) older_than_loss[number] += one;
      });
}

void ReportAnalysis::State::add_live_pages(const Origin& origin, std::uint64_t bytes) {
  const PageUse use = origin.page_use;
  if (is_of_slab(use))
    live_pages.slab += bytes;
  else if (use == PageUse::user || use == PageUse::page_cache ||
           (use == PageUse::unknown && origin.migrate_type == movable))
    live_pages.user += bytes;
}

// Adds up the live memory that may already be freed. Either the kernel frees it without an event, or the event may be
// lost.
void ReportAnalysis::State::find_maybe_freed() {
  for (std::size_t pair = 0; pair < used_totals->anomaly_pairs(); ++pair)
    if (const AnomalyKey& key = used_totals->anomaly_key(pair);
        static_cast<Imperfection>(key.kind) == Imperfection::allocation_on_live_pointer)
      causes.add_reuse(static_cast<Allocator>(key.allocator), key.cache, {key.first_site});
  maybe_freed.resize(ledger.accounts().size());
  for (std::size_t number = 1; number < live.size(); ++number) {
    const Origin& origin = ledger.origins()[number];
    const bool is_upper_bound =
        live[number].allocations > 0 &&
        causes.live_is_upper_bound(origin.allocator, origin.cache, origin.call_site, origin.from_cache);
    maybe_freed[origin.group] += is_upper_bound ? live[number] : older_than_loss[number];
  }
}

std::vector<AnomalyRow> ReportAnalysis::State::anomaly_rows() {
  std::vector<AnomalyRow> rows;
  for (std::size_t pair = 0; pair < used_totals->anomaly_pairs(); ++pair) {
    const AnomalyKey& key = used_totals->anomaly_key(pair);
    const AnomalyCount& count = used_totals->anomaly_counts[pair];
    rows.push_back({static_cast<Imperfection>(key.kind), static_cast<Allocator>(key.allocator),
                    code_address(key.first_site), code_address(key.second_site), info.tables.cache_names[key.cache],
                    count.count, count.first_ns, count.last_ns, is_explained(key)});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const AnomalyRow& a, const AnomalyRow& b) { return a.count > b.count; });
  return rows;
}

OlderObjectsOfTrace ReportAnalysis::State::older() const {
  std::vector<std::uint64_t> frees(info.tables.cache_names.size());
  for (std::size_t pair = 0; pair < used_totals->anomaly_pairs(); ++pair) {
    const AnomalyKey& key = used_totals->anomaly_key(pair);
    if (static_cast<Imperfection>(key.kind) == Imperfection::allocated_before_trace &&
        static_cast<Allocator>(key.allocator) == Allocator::slab)
      frees[key.cache] += used_totals->anomaly_counts[pair].count;
  }
  return older_objects(info, frees, used_totals->selected_events.span.first_ns);
}

std::vector<std::uint32_t> ReportAnalysis::State::groups_to_follow(Histories& common) const {
  std::vector<std::uint32_t> groups;
  for (std::uint32_t group = 0; group < ledger.accounts().size(); ++group)
    if (ledger.accounts()[group].allocations > 0) groups.push_back(group);
  if (groups.size() <= Histories::kMostGroups) return groups;
  std::nth_element(groups.begin(), groups.begin() + Histories::kMostGroups, groups.end(),
                   [this](std::uint32_t a, std::uint32_t b) {
                     const Account& one = ledger.accounts()[a];
                     const Account& other = ledger.accounts()[b];
                     if (!history_of_live)
                       return one.peak_bytes != other.peak_bytes ? one.peak_bytes > other.peak_bytes : a < b;
                     return std::tuple(may_grow(other), other.live_bytes, other.live_allocations, a) <
                            std::tuple(may_grow(one), one.live_bytes, one.live_allocations, b);
                   });
  for (auto group = groups.begin() + Histories::kMostGroups; group != groups.end(); ++group)
    if (const Account& account = ledger.accounts()[*group]; may_grow(account)) {
      ++common.groups_not_followed;
      common.bytes_not_followed += account.live_bytes;
    }
  groups.resize(Histories::kMostGroups);
  return groups;
}

std::optional<MostLive> ReportAnalysis::State::find_most_live() const {
  std::uint32_t group = 0;
  std::optional<MostLive> most = most_live({ledger.origins(), live, maybe_freed, grouping, info, symbols}, group);
  if (most) most->group = row_of(ledger.accounts()[group], grouping.values_of(group, symbols)).name;
  return most;
}

std::optional<Histories> ReportAnalysis::State::make_histories(std::uint64_t end_ns) {
  if (!ledger.history()) return std::nullopt;
  ledger.end(end_ns);
  Histories common;
  common.cut_at_ns = cut_at_ns;
  histories = histories_of_groups(
      {*ledger.history(), *used_matching, ledger.origins(), info, symbols, grouping, judges_reclaimable},
      ledger.accounts().size(), groups_to_follow(common), common);
  return common;
}

std::optional<TrafficOverTime> ReportAnalysis::State::make_traffic(std::uint64_t end_ns) {
  if (!ledger.traffic()) return std::nullopt;
  TrafficOverTime of_all = ledger.traffic()->finish(end_ns);
  for (std::uint32_t id = 0; id < info.tables.call_sites.size(); ++id) of_all.sites.push_back(code_address(id).symbol);
  of_all.cpu_nodes = info.machine.cpu_nodes;
  traffic = ledger.traffic()->of_groups(ledger.accounts().size());
  return of_all;
}

// Sets the values of rows that depend on the whole trace.
void ReportAnalysis::State::complete_rows(ReportResult& result) const {
  for (GroupTable& table : result.groups)
    for (GroupRow& row : table.rows) {
      row.allocator = table.allocator;
      row.recorded_ns = result.trace.recorded_ns;
      if (table.allocator == Allocator::percpu) row.knows_bytes = result.percpu.knows_bytes;
      if (info.machine.cpu_nodes.empty()) row.cross_node_frees.reset();
    }
}

ReportResult ReportAnalysis::finish(bool complete) {
  State& state = *state_;
  EventCounts seen = state.used_totals->selected_events;
  seen.add(state.used_totals->other_events);
  const RecordedTime recorded = recorded_time(state.info, seen.span, state.classifier.filter(), complete);
  ReportResult result;
  result.trace = summarize(state.info);
  result.trace.complete = complete;
  state.used_totals->selected_events.span.store_in(result.trace);
  const EventSpan& whole = state.used_totals->whole_span;
  result.trace.whole_first_ns = whole.first_ns;
  result.trace.whole_ns = whole.last_ns - whole.first_ns;
  result.trace.recorded_ns = recorded.length_ns();
  result.activity = state.activity(seen);
  result.events = state.event_counts();
  result.calls = state.count_calls();

  state.count_live(recorded.to_ns);
  state.find_maybe_freed();
  static_cast<AllocatorTotals&>(result.slab) = state.totals_of(Allocator::slab);
  if (!state.info.machine.cpu_nodes.empty())
    result.slab.cross_node_allocations = state.used_totals->cross_node_allocations;
  result.pages = state.page_totals();
  result.percpu = state.totals_of(Allocator::percpu);
  // Either all events contain the allocated bytes or none does.
  result.percpu.knows_bytes = result.percpu.allocations == 0 || result.percpu.bytes_allocated > 0;
  result.vmalloc = state.totals_of(Allocator::vmap);
  result.memory = memory_state_of(state.info.recording.samples);

  for (unsigned order = 0; order < state.used_totals->orders.size(); ++order) {
    PageOrderRow row = state.used_totals->orders[order];
    row.order = order;
    if (row.allocations + row.failed_allocations + row.frees > 0) result.page_orders.push_back(row);
  }
  result.by = state.grouping.by();
  if (state.names_most_live) result.most_live = state.find_most_live();
  if (state.sums_live_pages) result.live_pages = state.live_pages;
  result.histories = state.make_histories(recorded.to_ns);
  result.traffic = state.make_traffic(recorded.to_ns);
  if (state.ledger.window()) result.window = state.ledger.window()->sums();
  result.groups = state.tables();
  state.complete_rows(result);

  for (std::size_t kind = 0; kind < state.used_totals->anomalies.size(); ++kind)
    if (state.used_totals->anomalies[kind] > 0)
      result.anomalies.emplace_back(kImperfections[kind].id, state.used_totals->anomalies[kind]);
  result.anomaly_sites = state.anomaly_rows();
  result.explained = explained_of(result.anomaly_sites, allocations_and_frees(result));
  result.explained.recorder_frees = state.used_totals->recorder_frees;
  result.findings = findings_of(state.info);
  result.older = state.older();
  add_findings(result.older, result.findings);
  add_missing_frees(state.info, seen, result);
  add_missing_causes(state.info, seen, result);
  return result;
}

}  // namespace kmt
