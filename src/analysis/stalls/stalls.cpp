// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/stalls/stalls.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "analysis/matching/trace_summary.hpp"
#include "analysis/series/time_series.hpp"
#include "analysis/stalls/follower.hpp"
#include "analysis/stalls/groups.hpp"
#include "base/proc_text.hpp"
#include "base/text.hpp"
#include "trace/tasks/processes.hpp"

namespace kmt {

namespace {

constexpr const char* kUnknown = "unknown";

using WaitGroups = std::map<std::string, WaitSums>;

void add_wait_to(WaitGroups& groups, const std::string& name, const WaitSums& sums) {
  groups[name.empty() ? kUnknown : name].add(sums);
}

std::vector<WaitGroup> by_time(const WaitGroups& groups) {
  std::vector<WaitGroup> rows;
  rows.reserve(groups.size());
  for (const auto& [name, sums] : groups) rows.push_back({name, sums});
  std::ranges::stable_sort(rows, std::ranges::greater{}, [](const WaitGroup& row) { return row.sums.total_ns; });
  return rows;
}

std::optional<int> node_of(const Event& event) {
  return event.node == kNoNode ? std::nullopt : std::optional<int>(event.node);
}

// Returns a counter of /proc/vmstat. Newer kernels have an allocstall counter for each zone.
std::optional<std::uint64_t> vmstat_counter(std::string_view text, std::string_view name) {
  std::optional<std::uint64_t> sum;
  for (const std::string_view line : split(text, '\n')) {
    const auto parsed = parse_proc_line(line);
    if (!parsed || (parsed->name != name && !(name == "allocstall" && parsed->name.starts_with("allocstall_"))))
      continue;
    sum = sum.value_or(0) + parsed->value;
  }
  return sum;
}

std::vector<std::pair<std::string, std::uint64_t>> counters_of_kernel(const std::vector<StateSample>& samples) {
  std::vector<std::pair<std::string, std::uint64_t>> rises;
  if (samples.size() < 2) return rises;
  for (const char* const name : {"allocstall", "compact_stall", "compact_fail", "oom_kill", "pgscan_direct",
                                 "pgsteal_direct", "pgscan_kswapd", "pgsteal_kswapd"}) {
    const auto first = vmstat_counter(text_of(samples.front(), "vmstat"), name);
    const auto last = vmstat_counter(text_of(samples.back(), "vmstat"), name);
    if (first && last && *last >= *first) rises.emplace_back(name, *last - *first);
  }
  return rises;
}

WaitSums sums_of(const FollowedWait& wait) {
  WaitSums sums;
  sums.waits = 1;
  sums.total_ns = sums.longest_ns = wait.waited_ns;
  sums.reclaimed_pages = wait.reclaimed_pages;
  for (std::size_t kind = 0; kind < kWaitKinds; ++kind) sums.own_ns[kind] = wait.kinds[kind].own_ns;
  return sums;
}

// Adds up waiting time in buckets, in bounded memory.
class WaitingTime {
 public:
  explicit WaitingTime(std::uint64_t start_ns) : buckets_(start_ns) {}

  void add(std::uint64_t from_ns, std::uint64_t to_ns) {
    end(to_ns);
    from_ns = std::max(from_ns, buckets_.start_ns());
    while (from_ns < to_ns) {
      const std::uint64_t in_bucket_ns = (from_ns - buckets_.start_ns()) % buckets_.width_ns();
      const std::uint64_t step_ns = std::min(buckets_.width_ns() - in_bucket_ns, to_ns - from_ns);
      waiting_ns_[buckets_.bucket_of(from_ns).index] += step_ns;
      from_ns += step_ns;
    }
  }
  // Extends the buckets to this time.
  void end(std::uint64_t time_ns) {
    const std::uint32_t shift = buckets_.shift();
    buckets_.bucket_of(time_ns);
    const std::uint32_t by = buckets_.shift() - shift;
    for (std::size_t i = 1; by > 0 && i < waiting_ns_.size(); ++i) {
      const std::uint32_t index = widened(i, by);
      if (index != i) waiting_ns_[index] += std::exchange(waiting_ns_[i], 0);
    }
    waiting_ns_.resize(buckets_.count());
  }
  WaitsOverTime result() const { return {buckets_.start_ns(), buckets_.end_ns(), buckets_.width_ns(), waiting_ns_}; }

 private:
  TimeBuckets buckets_;
  std::vector<std::uint64_t> waiting_ns_;
};

}  // namespace

bool has_stall_types(const TraceInfo& info) {
  return std::ranges::any_of(info.tables.event_types, is_stall, &EventType::kind);
}

struct StallsAnalysis::State {
  State(const TraceInfo& trace_info, const SymbolNames& names, ReportRequest request, std::size_t most)
      : info(trace_info),
        tasks(request.tasks ? *request.tasks : trace_info.tasks),
        symbols(names),
        find_caller(caller_of_waits(std::move(request.find_caller), names)),
        caches(trace_info),
        is_filtered(!request.filter.selects_all()),
        filter(std::move(request.filter), trace_info, tasks, names, caches),
        longest(most),
        follower(
            trace_info, tasks, [this](const FollowedWait& wait) { add_wait(wait); },
            [this](const Event& compaction, StallFollower::Compaction what) { count_compaction(compaction, what); }),
        by(std::move(request.by)) {
    if (!by.empty()) groups.emplace(by, info, tasks, names, caches, find_caller, GroupingOptions{.tree = request.tree});
  }

  struct Kept {
    Wait wait;
    StackId stack;
  };
  // Orders waits by their length; of equally long waits, the first comes first.
  static bool is_longer(const Kept& a, const Kept& b) {
    return a.wait.sums.total_ns != b.wait.sums.total_ns ? a.wait.sums.total_ns > b.wait.sums.total_ns
                                                        : a.wait.began_ns < b.wait.began_ns;
  }

  void add(const Event& event);
  void count(const Event& event);
  void count_compaction(const Event& request, StallFollower::Compaction what);
  void add_wait(const FollowedWait& wait);
  Wait described(const FollowedWait& followed);
  std::string call_site_of(const FollowedWait& wait) const;
  std::string caller_in(StackId stack) const;
  void keep(Wait wait, StackId stack);
  void add_background(StallsResult& result) const;

  const TraceInfo& info;
  const TraceTasks& tasks;
  const SymbolNames& symbols;
  FindCaller find_caller;
  CacheNames caches;
  bool is_filtered;  // initialised before the filter, which takes the wanted events
  EventFilter filter;
  std::size_t longest;
  StallFollower follower;
  EventSpan seen;  // all events within the time window
  EventSpan span;  // selected events of stalls
  bool begun = false;
  StallsResult result;
  std::array<StallSums, kWaitKinds> kinds{};
  WaitGroups processes, cgroups, call_sites, orders, gfp_flags;
  std::vector<GroupKey> by;
  std::optional<StallGroups> groups;     // empty if no keys were requested
  std::optional<WaitingTime> over_time;  // empty before the first event
  std::map<std::pair<Scanner, int>, ScanRow> scans;
  std::vector<Kept> kept;  // a heap: the shortest wait is first
};

void StallsAnalysis::State::add(const Event& event) {
  if (filter.in_window(event.time_ns)) {
    seen.add(event);
    if (!over_time) over_time.emplace(event.time_ns);
    if (event.kind == EventKind::page_alloc) result.memory_recorded = true;
    if (is_stall(event.kind) && filter.selects(event)) count(event);
  }
  if (groups) groups->see(event);
  follower.add(event);
}

void StallsAnalysis::State::count_compaction(const Event& request, StallFollower::Compaction what) {
  if (!filter.in_window(request.time_ns) || !filter.selects(request)) return;
  StallCounts& counts = result.counts;
  ++(what == StallFollower::Compaction::started ? counts.compactions : counts.failed_compactions);
}

void StallsAnalysis::State::count(const Event& event) {
  span.add(event);
  const StallKind kind = stall_kind(event);
  if (event.kind == EventKind::stall_begin && kind == StallKind::direct_reclaim) ++result.counts.direct_reclaims;
  if (kind == StallKind::compaction_request) ++result.counts.compaction_requests;
  if (kind == StallKind::oom_victim) ++result.counts.oom_victims;
  if (kind != StallKind::scan) return;
  ScanRow& row = scans[{follower.scanner_of(event), event.node}];
  row.scanner = follower.scanner_of(event);
  row.node = node_of(event);
  row.scanned_pages += scanned_pages(event);
  row.reclaimed_pages += reclaimed_pages(event);
}

std::string StallsAnalysis::State::caller_in(StackId stack) const {
  const std::span<const std::uint64_t> frames = info.tables.stacks[stack];
  const std::size_t caller = find_caller(frames);
  return caller < frames.size() ? symbols.name(frames[caller]) : std::string();
}

std::string StallsAnalysis::State::call_site_of(const FollowedWait& wait) const {
  if (wait.object) return name_of_site(wait.object->call_site, info, symbols);
  if (wait.pages && wait.pages->call_site.value != 0) return name_of_site(wait.pages->call_site, info, symbols);
  if (wait.pages && wait.pages->stack.value != 0) return caller_in(wait.pages->stack);
  return caller_in(wait.begin.stack);
}

Wait StallsAnalysis::State::described(const FollowedWait& followed) {
  const Event& begin = followed.begin;
  Wait wait;
  wait.began_ns = begin.time_ns;
  wait.sums = sums_of(followed);
  wait.task = fmt::format("{}-{}", task_name(tasks, begin.tid, begin.time_ns), begin.tid);
  const Process process = process_at(tasks, begin.tid, begin.time_ns);
  wait.process = fmt::format("{}-{}", task_name(tasks, process.pid, begin.time_ns), process.pid);
  wait.cgroup = cgroup_of(tasks, process, begin.time_ns);
  if (followed.order) wait.order = *followed.order;
  wait.gfp_flags = followed.gfp_flags;
  wait.gfp_names = gfp_text(info.tables.gfp_flags, followed.gfp_flags);
  if (!followed.pages && !followed.object) return wait;
  AwaitedMemory& memory = wait.memory.emplace();
  const Event& event = followed.object ? *followed.object : *followed.pages;
  memory.allocator = followed.object ? "slab" : "pages";
  memory.by_kmalloc = followed.object && event.kind != EventKind::cache_alloc;
  if (event.kind == EventKind::cache_alloc) memory.cache = caches[caches.id_of(event)];
  memory.bytes_requested =
      followed.object ? event.bytes_requested : info.machine.page_size << std::min<unsigned>(event.order, 20);
  memory.failed = followed.object ? event.address == 0 : event.address == kNoPage;
  return wait;
}

void StallsAnalysis::State::add_wait(const FollowedWait& followed) {
  if (!filter.in_window(followed.begin.time_ns) || !filter.selects(followed.begin)) return;
  std::uint64_t stalls = 0;
  for (const StallSums& kind : followed.kinds) stalls += kind.stalls;
  if (followed.is_uncertain) {
    result.uncertain_stalls += std::max<std::uint64_t>(stalls, 1);
    return;
  }
  if (followed.is_unfinished) ++result.unfinished_waits;
  for (std::size_t i = 0; i < kWaitKinds; ++i) {
    kinds[i].stalls += followed.kinds[i].stalls;
    kinds[i].total_ns += followed.kinds[i].total_ns;
    kinds[i].own_ns += followed.kinds[i].own_ns;
    kinds[i].longest_ns = std::max(kinds[i].longest_ns, followed.kinds[i].longest_ns);
    kinds[i].reclaimed_pages += followed.kinds[i].reclaimed_pages;
  }
  Wait wait = described(followed);
  const std::string site = call_site_of(followed);
  if (wait.memory) wait.memory->call_site = site;
  result.total.add(wait.sums);
  if (groups) groups->add(followed, wait.sums);
  for (const auto& [from_ns, to_ns] : followed.times_ns) over_time->add(from_ns, to_ns);
  add_wait_to(processes, wait.process, wait.sums);
  add_wait_to(cgroups, wait.cgroup, wait.sums);
  add_wait_to(call_sites, site, wait.sums);
  add_wait_to(orders, wait.order ? std::to_string(*wait.order) : kUnknown, wait.sums);
  add_wait_to(gfp_flags, wait.gfp_names.empty() ? fmt::format("{:#x}", wait.gfp_flags) : wait.gfp_names, wait.sums);
  const auto bits = static_cast<std::size_t>(std::bit_width(followed.waited_ns / 1000));
  if (result.durations.size() <= bits) result.durations.resize(bits + 1);
  ++result.durations[bits];
  keep(std::move(wait), followed.begin.stack);
}

// Keeps a wait if it is among the longest.
void StallsAnalysis::State::keep(Wait wait, StackId stack) {
  kept.push_back({std::move(wait), stack});
  std::ranges::push_heap(kept, is_longer);
  if (longest == 0 || kept.size() <= longest) return;
  std::ranges::pop_heap(kept, is_longer);
  kept.pop_back();
}

void StallsAnalysis::State::add_background(StallsResult& to) const {
  for (const auto& [tid, worker] : follower.workers()) {
    BackgroundRow& row = to.background.emplace_back();
    row.task = fmt::format("{}-{}", task_name(tasks, tid, seen.last_ns), tid);
    if (worker.node != kNoNode) row.node = worker.node;
    row.wakeups = worker.wakeups;
    row.awake_ns = worker.awake_ns;
    row.compaction_ns = worker.compaction_ns;
    row.throttled_ns = worker.throttled_ns;
  }
}

StallsAnalysis::StallsAnalysis(const TraceInfo& info, const SymbolNames& symbols, ReportRequest request,
                               std::size_t longest)
    : state_(std::make_unique<State>(info, symbols, std::move(request), longest)) {}
StallsAnalysis::~StallsAnalysis() = default;

CacheNames& StallsAnalysis::cache_names() { return state_->caches; }

void StallsAnalysis::add(const EventBatch& batch) {
  if (!state_->begun && !batch.empty()) state_->filter.begin(batch.front().time_ns);
  state_->begun = state_->begun || !batch.empty();
  for (const Event& event : batch) state_->add(event);
}

StallsResult StallsAnalysis::finish(bool complete) {
  State& state = *state_;
  state.follower.finish();
  StallsResult result = std::move(state.result);
  result.trace = summarize(state.info);
  state.span.store_in(result.trace);
  result.trace.complete = complete;
  result.trace.recorded_ns = recorded_time(state.info, state.seen, state.filter, complete).length_ns();
  result.findings = findings_of(state.info);
  result.recorded = has_stall_types(state.info);
  result.uncertain_stalls += state.follower.unmatched_ends();
  if (!state.is_filtered && result.uncertain_stalls == 0 && total_lost_events(state.info.losses) == 0)
    result.some_ns = state.follower.waiting_ns();
  for (std::size_t kind = 0; kind < kWaitKinds; ++kind)
    if (const StallSums& sums = state.kinds[kind]; sums.stalls > 0)
      result.kinds.push_back({static_cast<StallKind>(kind), sums.stalls, sums.total_ns, sums.own_ns, sums.longest_ns,
                              sums.reclaimed_pages});
  result.kernel_counters = counters_of_kernel(state.info.recording.samples);
  result.processes = by_time(state.processes);
  result.cgroups = by_time(state.cgroups);
  result.call_sites = by_time(state.call_sites);
  result.orders = by_time(state.orders);
  result.gfp_flags = by_time(state.gfp_flags);
  if (state.groups) result.groups = state.groups->rows();
  result.by = state.by;
  if (state.over_time) {
    state.over_time->end(state.seen.last_ns);
    result.over_time = state.over_time->result();
  }
  std::ranges::sort(state.kept, State::is_longer);
  for (State::Kept& kept : state.kept) {
    for (const std::uint64_t address : state.info.tables.stacks[kept.stack])
      kept.wait.stack.push_back(state.symbols.name(address));
    result.longest.push_back(std::move(kept.wait));
  }
  state.add_background(result);
  for (const auto& [key, row] : state.scans) result.scans.push_back(row);
  return result;
}

}  // namespace kmt
