// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/history.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "analysis/matching/missing_frees.hpp"
#include "analysis/matching/slab_account.hpp"
#include "analysis/matching/trace_summary.hpp"
#include "analysis/report/known_causes.hpp"
#include "analysis/report/replaced_objects.hpp"
#include "analysis/series/memory_series.hpp"
#include "base/text.hpp"
#include "results/series/thresholds.hpp"
#include "trace/code/function_name.hpp"
#include "trace/code/untraced_paths.hpp"
#include "trace/kernel_release.hpp"

namespace kmt {

void History::see(const Event& event) {
  if (!clock_) clock_.emplace(event.time_ns);
  now_ns_ = event.time_ns;
  now_ = clock_->bucket_of(now_ns_);
  if (is_free(event.kind) || event.kind == EventKind::page_free) ++frees_[static_cast<std::size_t>(event.kind)];
  see_pages(event);
}

void History::see_pages(const Event& event) {
  if (event.order > kMostPageOrder || event.address == kNoPage) return;
  const std::uint64_t bytes = page_size_ << event.order;
  switch (event.kind) {
    case EventKind::page_alloc: page_frames_.allocate(now_, bytes); break;
    case EventKind::page_free:
      page_frames_.release(now_, bytes);
      if (!cpu_lists_.take(event.order)) taken_from_zones_.release(now_, bytes);
      break;
    case EventKind::page_alloc_zone_locked:
      taken_from_zones_.allocate(now_, bytes);
      sees_zones_ = true;
      break;
    case EventKind::page_pcpu_drain: taken_from_zones_.release(now_, bytes); break;
    default: break;
  }
}

// Adds a time series for a group. All series together use at most 48 MiB if there are at most 32768 groups. With more
// groups, each series uses 1.5 KiB.
void History::add_group(std::uint32_t group) {
  constexpr std::size_t kFinest = 4096;         // number of groups up to which series have all buckets
  constexpr std::uint32_t kFewestBuckets = 64;  // minimum number of buckets for a trend
  of_group_.resize(group + std::size_t{1});
  const std::size_t groups = std::bit_ceil((of_group_.size() + kFinest - 1) / kFinest);
  const auto most = std::max(static_cast<std::uint32_t>(TimeBuckets::kMostBuckets / groups), kFewestBuckets);
  if (most >= most_buckets_) return;
  most_buckets_ = most;
  clock_->limit(most);
  now_ = clock_->bucket_of(now_ns_);
  for (TimeSeries& series : of_group_) series.shrink_to(*clock_);
}

void History::began(std::uint32_t number, const Origin& origin) {
  if (of_group_.size() <= origin.group) add_group(origin.group);
  of_group_[origin.group].allocate(now_, origin.bytes_allocated);
  of_allocator_[static_cast<std::size_t>(origin.allocator)].allocate(now_, origin.bytes_allocated);
  if (TimeSeries* const account = account_of(origin)) account->allocate(now_, origin.bytes_allocated);
  ++reuse_of(number).allocations;
}

void History::ended(std::uint32_t number, const Origin& origin, std::uint64_t bytes, bool whole) {
  if (whole) ++reuse_of(number).ended;
  of_group_[origin.group].release(now_, bytes);
  of_allocator_[static_cast<std::size_t>(origin.allocator)].release(now_, bytes);
  if (TimeSeries* const account = account_of(origin)) account->release(now_, bytes);
}

void History::reallocated(std::uint32_t number, std::uint64_t began_ns) {
  Reuse& reuse = reuse_of(number);
  ++reuse.reallocated;
  reuse.last_reallocated_began = std::max(reuse.last_reallocated_began, began_ns);
}

namespace {

// Finds losses within the analysed time (--time). Later losses cannot hide frees of memory that is live at the end of
// this time.
void find_losses(const TraceInfo& info, Histories& common) {
  const std::uint64_t until_ns = events_lost_until(info, common.axis.end_ns);
  if (until_ns == kAnyTime)
    common.incomplete.push_back(Imperfection::lost_events);
  else
    common.lost_until_ns = until_ns;
  std::ranges::copy(hiding_events(info, common.axis.end_ns), std::back_inserter(common.incomplete));
}

EventKind allocation_of(const Origin& origin) {
  switch (origin.allocator) {
    case Allocator::percpu: return EventKind::percpu_alloc;
    case Allocator::vmap: return EventKind::vmap_alloc;
    case Allocator::pages: return EventKind::page_alloc;
    case Allocator::slab: break;
  }
  return origin.from_cache ? EventKind::cache_alloc : EventKind::kmalloc;
}

// The properties by which allocations count as the same kind: allocator, call site and size.
struct Kind {
  Allocator allocator;
  std::uint32_t call_site;
  std::uint64_t bytes;
  bool operator==(const Kind&) const = default;
};
struct HashOfKind {
  std::size_t operator()(const Kind& kind) const {
    return static_cast<std::size_t>((kind.call_site * 0x9E3779B97F4A7C15ull) ^
                                    (kind.bytes * 4 + static_cast<std::uint64_t>(kind.allocator)));
  }
};

// Numbers of ended allocations of one kind. `all` is the total. `reallocated` counts those whose address was allocated
// again without a free.
struct Ends {
  std::uint64_t all = 0;
  std::uint64_t reallocated = 0;
};

class HistoryMaker {
 public:
  HistoryMaker(const HistorySources& from, Histories& common) : from_(from), common_(common), replaced_(from) {
    common_.axis = {from_.history.clock()->start_ns(), from_.history.clock()->end_ns(),
                    from_.history.clock()->width_ns(), from_.history.clock()->count()};
    find_losses(from_.info, common_);
    add_up_kinds();
    movable_ = movable_type(from_.info.machine.kernel);
    find_page_tables();
    has_slab_events_ = std::ranges::any_of(from_.origins, [](const Origin& origin) {
      return origin.bytes_allocated > 0 && origin.allocator == Allocator::slab;
    });
    version_ = version_of(from_.info.machine.kernel);
    probed_ = probed_functions(from_.info);
    tasks_selected_ = only_some_tasks(from_.info);
  }

  GroupHistory begin(const TimeSeries& series) const {
    GroupHistory history;
    history.series = series.points(*from_.history.clock());
    history.doubtful_bytes.resize(common_.axis.buckets);
    return history;
  }

  // Properties that all live objects of an origin share.
  struct OriginFacts {
    bool known = false;
    std::optional<Doubt> doubt;
    Kind kind{};
    std::string_view untraced_path;
  };
  const OriginFacts& facts_of(std::uint32_t number) {
    if (facts_.size() <= number) facts_.resize(from_.origins.size());
    OriginFacts& facts = facts_[number];
    if (!facts.known) facts = find_facts(number);
    return facts;
  }

  void add_live(GroupHistory& history, std::uint32_t number, std::uint64_t began_ns, std::uint64_t bytes, bool head) {
    const std::uint64_t age = common_.axis.end_ns > began_ns ? common_.axis.end_ns - began_ns : 0;
    if (head) history.ages.add(age);
    history.oldest_ns = std::max(history.oldest_ns, age);
    const OriginFacts& facts = facts_of(number);
    std::optional<Doubt> doubt = facts.doubt;
    if (doubt && explains_growth(*doubt)) {
      // These doubts explain growth: this memory is expected to grow, with or without missing frees.
    } else if (lacks_frees(from_.info, allocation_of(from_.origins[number]), from_.history.frees())) {
      doubt = Doubt::frees_not_recorded;
    } else if (tasks_selected_) {
      doubt = Doubt::tasks_selected;
    } else if (began_ns < common_.lost_until_ns) {
      doubt = Doubt::lost_stretch;
    } else if (!common_.incomplete.empty()) {
      doubt = Doubt::incomplete_trace;
    }
    if (!doubt) return;
    if (*doubt == Doubt::untraced_path) history.untraced_path = facts.untraced_path;
    LiveCount& count = history.doubtful[static_cast<std::size_t>(*doubt)];
    count += {head ? 1u : 0u, bytes};
    history.doubtful_bytes[common_.axis.bucket_of(began_ns)] += bytes;
  }

  void add_reuse(GroupHistory& history, std::uint32_t number) {
    if (number >= from_.history.reuse().size()) return;
    const History::Reuse& reuse = from_.history.reuse()[number];
    history.reallocated += reuse.reallocated;
    history.reallocated_of += reuse.allocations;
  }

  static void end(GroupHistory& history) {
    for (std::size_t i = 1; i < history.doubtful_bytes.size(); ++i)
      history.doubtful_bytes[i] += history.doubtful_bytes[i - 1];
  }

 private:
  Kind kind_of(std::uint32_t number) const {
    const Origin& origin = from_.origins[number];
    return {origin.allocator, origin.call_site.value, origin.bytes_allocated};
  }

  void add_up_kinds() {
    for (std::uint32_t number = 1; number < from_.history.reuse().size(); ++number) {
      const History::Reuse& reuse = from_.history.reuse()[number];
      Ends& ends = ends_[kind_of(number)];
      ends.all += reuse.ended;
      // Ignores reused addresses of allocations from before a loss: their frees may be among the lost events.
      if (reuse.reallocated > 0 && reuse.last_reallocated_began >= common_.lost_until_ns)
        ends.reallocated += reuse.reallocated;
    }
  }

  // Numbers of live pages that one process, or all processes together, have allocated.
  struct PageTables {
    std::uint64_t pages = 0;
    std::uint64_t user_pages = 0;
    // Number of tasks that the process created. It has also allocated the first page tables of these tasks.
    std::uint64_t tasks = 0;

    bool are_many() const {
      return static_cast<double>(pages) > kThresholds.most_page_tables * static_cast<double>(user_pages);
    }
    bool are_many_for_a_process(std::uint64_t page_size) const {
      return are_many() && pages * page_size > kThresholds.page_tables_of_task * (1 + tasks);
    }
  };

  // Compares the pages of page tables with the pages of user memory.
  void find_page_tables() {
    from_.matching.for_each_live(
        [&](Allocator allocator, std::uint32_t number, std::uint64_t, std::uint64_t pages, bool) {
          if (number == 0) return;
          const Origin& origin = from_.origins[number];
          PageTables& of_process = page_tables_[origin.process];
          if (allocator == Allocator::slab && origin.from_cache && is_task(origin.call_site)) ++of_process.tasks;
          if (allocator != Allocator::pages) return;
          if (origin.migrate_type == movable_ || origin.page_use == PageUse::reclaimable_slab) {
            of_process.user_pages += pages;
            all_page_tables_.user_pages += pages;
          } else if (origin.page_use == PageUse::page_table) {
            of_process.pages += pages;
            all_page_tables_.pages += pages;
          }
        });
  }

  // True if a call site allocates the task_struct of a new task.
  bool is_task(CallSiteId site) {
    const auto [known, is_new] = is_task_.try_emplace(site.value, false);
    if (is_new) {
      const std::string name = name_of_site(site, from_.info, from_.symbols);
      known->second = function_of(name) == "copy_process" || function_of(name) == "dup_task_struct";
    }
    return known->second;
  }

  // True if neither user memory nor new tasks explain the size of the page tables.
  bool has_many_page_tables(const Origin& origin) const {
    if (all_page_tables_.are_many()) return true;
    const auto of_process = page_tables_.find(origin.process);
    return origin.process != 0 && of_process != page_tables_.end() &&
           of_process->second.are_many_for_a_process(from_.info.machine.page_size);
  }

  // True if many objects of a kind ended without a traced free. A few reused addresses do not prove an untraced path:
  // the clocks of CPUs may disagree, or an event in an interrupt was not recorded.
  bool is_freed_unseen(const Kind& kind) const {
    const auto ends = ends_.find(kind);
    return ends != ends_.end() && ends->second.reallocated > 0 &&
           ends->second.reallocated * kThresholds.frees_per_unseen >= ends->second.all;
  }

  OriginFacts find_facts(std::uint32_t number) {
    OriginFacts facts = find_all_facts(number);
    if (facts.doubt == Doubt::reallocated) return facts;
    if (facts.doubt == Doubt::reclaimable && !from_.judges_reclaimable) return facts;
    if (facts.doubt == Doubt::reclaimable) facts.doubt.reset();
    if (from_.grouping.is_of_tracing_tool(from_.origins[number])) {
      facts.doubt = Doubt::tracing;
      facts.untraced_path = {};
    }
    return facts;
  }

  OriginFacts find_all_facts(std::uint32_t number) {
    OriginFacts facts{true, {}, kind_of(number), {}};
    if (is_freed_unseen(facts.kind)) {
      facts.doubt = Doubt::reallocated;
      return facts;
    }
    const Origin& origin = from_.origins[number];
    // The objects on pages of slabs are counted in groups of their own.
    if (is_of_slab(origin.page_use) && has_slab_events_)
      facts.doubt = Doubt::slab_pages;
    else if (origin.account == SlabAccount::reclaimable || origin.page_use == PageUse::reclaimable_slab ||
             origin.page_use == PageUse::page_cache || origin.page_use == PageUse::user ||
             (origin.allocator == Allocator::pages && origin.migrate_type == movable_))
      facts.doubt = Doubt::reclaimable;
    else if (origin.page_use == PageUse::page_table && !has_many_page_tables(origin))
      facts.doubt = Doubt::page_tables;
    if (!facts.doubt && replaced_.accompany_replaced(number)) facts.doubt = Doubt::older_freed;
    if (origin.allocator != Allocator::slab) return facts;
    if (replaced_.replace_older(number)) facts.doubt = Doubt::older_freed;
    const std::string site = name_of_site(origin.call_site, from_.info, from_.symbols);
    if (!origin.from_cache) {
      if (is_shrinkable_site(site)) facts.doubt = Doubt::reclaimable;
      return facts;
    }
    // Like page tables, these objects are created when a mapping is first used.
    if (function_of(site) == "__anon_vma_prepare" || function_of(site) == "anon_vma_clone") {
      facts.doubt = Doubt::page_tables;
      return facts;
    }
    const std::string& cache = from_.info.tables.cache_names[replaced_.cache_of(number)];
    if (const UntracedPath* const path = untraced_free_of(cache, site, version_, probed_)) {
      facts.doubt = Doubt::untraced_path;
      facts.untraced_path = path->sentence;
    } else if (is_shrinkable(cache, std::string(function_of(site)))) {
      facts.doubt = Doubt::reclaimable;
    }
    return facts;
  }

  const HistorySources& from_;
  Histories& common_;
  ReplacedObjects replaced_;
  std::optional<KernelVersion> version_;
  std::vector<std::string_view> probed_;
  int movable_ = 0;  // number of the migrate type Movable
  bool tasks_selected_ = false;
  bool has_slab_events_ = false;
  PageTables all_page_tables_;
  std::unordered_map<std::uint32_t, PageTables> page_tables_;  // key: Origin::process
  std::unordered_map<std::uint32_t, bool> is_task_;            // key: call site
  std::unordered_map<Kind, Ends, HashOfKind> ends_;
  std::vector<OriginFacts> facts_;  // index: number of the origin
};

// Collects the live memory of each process in each group.
class Holders {
 public:
  explicit Holders(const HistorySources& from) : from_(from), of_origin_(from.origins.size()) {}

  void add(std::uint32_t number, std::uint64_t bytes, bool head) { of_origin_[number] += {head ? 1u : 0u, bytes}; }

  void store_in(const std::vector<std::shared_ptr<GroupHistory>>& of_group) const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Held> all;  // key: group and process
    for (std::uint32_t number = 1; number < from_.origins.size(); ++number) {
      const Origin& origin = from_.origins[number];
      if (origin.process == 0 || of_origin_[number].bytes == 0 || !of_group[origin.group]) continue;
      Held& held = all[{origin.group, origin.process}];
      held.origin = number;
      held.live += of_origin_[number];
    }
    for (auto first = all.begin(); first != all.end();) {
      const std::uint32_t group = first->first.first;
      std::vector<Held> of_this;
      for (; first != all.end() && first->first.first == group; ++first) of_this.push_back(first->second);
      store(std::move(of_this), *of_group[group]);
    }
  }

 private:
  struct Held {
    std::uint32_t origin = 0;  // number of any origin of the process in the group
    LiveCount live;
  };

  std::vector<LiveName> names_of(const std::vector<Held>& held) const {
    std::map<std::string_view, LiveName> by_name;
    for (const Held& one : held) {
      const TaskName& process = from_.grouping.process_name(from_.origins[one.origin]);
      if (!process.id) continue;  // skip interrupts
      LiveName& name = by_name[process.comm];
      ++name.processes;
      name.live += one.live;
    }
    std::vector<LiveName> names;
    for (auto& [name, sums] : by_name) names.emplace_back(std::move(sums)).name = name;
    std::ranges::stable_sort(names, std::greater(), [](const LiveName& one) { return one.live.bytes; });
    names.resize(std::min(names.size(), GroupHistory::kMostHolders));
    return names;
  }

  void store(std::vector<Held> held, GroupHistory& history) const {
    std::ranges::stable_sort(held, std::greater(), [](const Held& one) { return one.live.bytes; });
    history.holders_in_all = held.size();
    history.names = names_of(held);
    held.resize(std::min(held.size(), GroupHistory::kMostHolders));
    for (const Held& one : held)
      history.holders.push_back({from_.grouping.process_name(from_.origins[one.origin]), one.live});
  }

  const HistorySources& from_;
  std::vector<LiveCount> of_origin_;
};

}  // namespace

std::vector<SharedHistory> histories_of_groups(const HistorySources& sources, std::size_t groups,
                                               const std::vector<std::uint32_t>& followed, Histories& common) {
  std::vector<SharedHistory> shared(groups);
  const History& history = sources.history;
  common.memory = memory_series_of(sources.info.recording.samples, sources.info.machine.page_size);
  if (!sources.info.clock.in_ns)
    std::erase_if(common.memory, [](const MemorySeries& series) { return series.source == MemorySource::vmstat_rate; });
  if (!history.clock()) return shared;
  HistoryMaker maker(sources, common);
  std::vector<std::shared_ptr<GroupHistory>> of_group(groups);
  std::array<std::shared_ptr<GroupHistory>, kAllocators> of_allocator;
  for (const std::uint32_t group : followed)
    of_group[group] = std::make_shared<GroupHistory>(maker.begin(history.of_group(group)));
  for (std::size_t i = 0; i < kAllocators; ++i)
    of_allocator[i] = std::make_shared<GroupHistory>(maker.begin(history.of_allocator(static_cast<Allocator>(i))));
  const TimeSeries* const zones = history.taken_from_zones();
  common.frames_of_zones = zones != nullptr;
  common.reclaimable_slab = history.reclaimable_slab().points(*history.clock());
  common.page_backed_slab = history.page_backed_slab().points(*history.clock());
  common.page_frames = (zones != nullptr ? *zones : history.page_frames()).points(*history.clock());

  for (std::uint32_t number = 1; number < sources.origins.size(); ++number) {
    const Origin& origin = sources.origins[number];
    if (of_group[origin.group]) maker.add_reuse(*of_group[origin.group], number);
    maker.add_reuse(*of_allocator[static_cast<std::size_t>(origin.allocator)], number);
  }
  Holders holders(sources);
  sources.matching.for_each_live(
      [&](Allocator allocator, std::uint32_t number, std::uint64_t began_ns, std::uint64_t pages, bool head) {
        if (number == 0) return;
        const Origin& origin = sources.origins[number];
        const std::uint64_t bytes =
            allocator == Allocator::pages ? pages * sources.info.machine.page_size : origin.bytes_allocated;
        holders.add(number, bytes, head);
        if (of_group[origin.group]) maker.add_live(*of_group[origin.group], number, began_ns, bytes, head);
        maker.add_live(*of_allocator[static_cast<std::size_t>(allocator)], number, began_ns, bytes, head);
      });
  holders.store_in(of_group);
  for (const std::uint32_t group : followed) {
    HistoryMaker::end(*of_group[group]);
    shared[group] = std::move(of_group[group]);
  }
  for (std::size_t i = 0; i < kAllocators; ++i) {
    HistoryMaker::end(*of_allocator[i]);
    common.of_allocator[i] = std::move(of_allocator[i]);
  }
  return shared;
}

}  // namespace kmt
