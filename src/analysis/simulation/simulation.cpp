// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/simulation/simulation.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/matching/slab_account.hpp"
#include "analysis/simulation/heap_replay.hpp"
#include "analysis/simulation/slabinfo_check.hpp"
#include "analysis/simulation/suggestion_trial.hpp"
#include "base/error.hpp"
#include "base/number.hpp"
#include "trace/code/function_name.hpp"

namespace kmt {

namespace {

// True if kmalloc has separate caches for memory that is charged to control groups. This is usual since Linux 5.14: the
// kernels of all distributions have these caches.
bool usually_has_cgroup_caches(const TraceInfo& info) {
  const auto version = version_of(info.machine.kernel);
  return !version || *version >= KernelVersion{5, 14};
}

// True if the event kmem_cache_free contains the name of the cache. This is the case since Linux 5.12.
bool names_caches(const TraceInfo& info) {
  const auto version = version_of(info.machine.kernel);
  return !version || *version >= KernelVersion{5, 12};
}

bool has_cache(const std::vector<SlabInfo>& slabinfo, std::string_view prefix) {
  return std::ranges::any_of(slabinfo, [prefix](const SlabInfo& slab) { return slab.name.starts_with(prefix); });
}

std::uint64_t least_class(const std::vector<SlabInfo>& slabinfo) {
  constexpr std::string_view kPrefix = "kmalloc-";
  std::uint64_t least = 0;
  for (const SlabInfo& slab : slabinfo) {
    if (!slab.name.starts_with(kPrefix)) continue;
    const std::string_view name = slab.name;
    const std::uint64_t bytes = parse_number<std::uint64_t>(name.substr(kPrefix.size())).value_or(0);
    if (bytes > 0 && (least == 0 || bytes < least)) least = bytes;
  }
  return least;
}

std::vector<std::uint64_t> merged(std::vector<std::uint64_t> classes, const std::vector<std::uint64_t>& more) {
  classes.insert(classes.end(), more.begin(), more.end());
  std::ranges::sort(classes);
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

}  // namespace

void name_kmalloc_caches(const TraceInfo& info, const SimulationRequest& request, CacheNames& caches) {
  if (request.slabinfo_before.empty() ? usually_has_cgroup_caches(info)
                                      : has_cache(request.slabinfo_before, "kmalloc-cg-"))
    caches.take_cgroup_caches_for_given();
}

KmallocModel kmalloc_model(const TraceInfo& info, const SimulationRequest& request,
                           const std::vector<ProfiledKind>& profile) {
  const SlabMachine machine = slab_machine_of(info);
  KmallocModel model;
  model.caches_assumed = request.slabinfo_before.empty();
  model.cgroup_caches =
      model.caches_assumed ? usually_has_cgroup_caches(info) : has_cache(request.slabinfo_before, "kmalloc-cg-");
  // Names of random caches have the first prefix in Linux 6.6 to 7.1, and the second since Linux 7.2.
  model.random_caches =
      has_cache(request.slabinfo_before, "kmalloc-rnd-01-") || has_cache(request.slabinfo_before, "kmalloc-part-01-");
  std::uint64_t least = least_class(request.slabinfo_before);
  model.least_class_from = "slabinfo";
  if (least == 0) {
    least = least_kmalloc_class(machine);
    model.least_class_from = "the architecture";
  }
  if (least == 0) {
    least = 2 * machine.page_bytes;
    for (const ProfiledKind& kind : profile) least = std::min(least, kind.given);
    model.least_class_from = "the trace";
  }
  model.classes = kmalloc_classes(least, machine);
  return model;
}

class Simulation::State : public HeapReplay {
 public:
  State(const TraceInfo& info, const SymbolNames& symbols, CacheNames& caches, SimulationRequest request,
        const std::vector<ProfiledKind>& profile, KmallocModel model);

  SimulationResult finish(bool complete);

 private:
  struct Checked {
    std::uint64_t predicted = 0;  // predicted allocated bytes; 0: the object was not allocated by kmalloc
    std::uint64_t allocations = 0;
    std::uint64_t unseen_frees = 0;  // number of objects whose address was allocated again without a free
    ObjectKind kind;
  };

  void kind(const ObjectKind& given) override;
  void began(std::uint32_t object, std::uint32_t kind, const Event& event, bool again) override;
  void ended(std::uint32_t object, const Event& event, bool freed) override;
  void freed_older(const Event& event) override;

  void plan_what_if(const std::vector<ProfiledKind>& profile);
  void plan_suggestions();
  void compare_bytes();
  void sum_unseen_frees();

  const TraceInfo& info_;
  SimulationRequest request_;
  SimulationResult result_;
  std::optional<SlabinfoCheck> check_;
  std::vector<Checked> kinds_;  // index: number of the kind
};

Simulation::State::State(const TraceInfo& info, const SymbolNames& symbols, CacheNames& caches,
                         SimulationRequest request, const std::vector<ProfiledKind>& profile, KmallocModel model)
    : HeapReplay(info, symbols, caches, model.random_caches), info_(info), request_(std::move(request)), kinds_(1) {
  result_.kernel_known = version_of(info.machine.kernel).has_value();
  result_.has_sheaves = has_sheaves(machine());
  result_.classes = std::move(model.classes);
  result_.least_class_from = std::move(model.least_class_from);
  result_.cgroup_caches = model.cgroup_caches;
  result_.random_caches = model.random_caches;
  result_.caches_assumed = model.caches_assumed;
  SlabLayout recorded;
  recorded.name = "as recorded";
  add_heap(std::move(recorded), true);
  if (request_.asks_for_what_if())
    plan_what_if(profile);
  else
    plan_suggestions();
  if (!request_.slabinfo_before.empty() && !request_.slabinfo_after.empty())
    check_.emplace(request_.slabinfo_before, machine(), !names_caches(info));
}

void Simulation::State::plan_what_if(const std::vector<ProfiledKind>& profile) {
  SlabLayout layout;
  layout.name = "asked for";
  layout.allocator = request_.allocator;
  if (!request_.classes.empty() || !request_.new_classes.empty())
    layout.classes = merged(request_.classes.empty() ? result_.classes : request_.classes, request_.new_classes);
  else if (request_.allocator == SlabAllocator::slab)
    layout.classes =
        kmalloc_classes(std::max<std::uint64_t>(32, result_.classes.front()), machine());  // KMALLOC_SHIFT_LOW
  for (SiteCache site : request_.site_caches) {
    std::uint64_t largest = 0;
    for (const ProfiledKind& kind : profile)
      if (matches_site(site.glob, kind.symbol)) largest = std::max(largest, kind.requested);
    if (largest == 0)
      throw Error(fmt::format("--cache {}: no such call site allocates from kmalloc caches in this trace", site.glob))
          .hint("`kmemtrace report --by call-site` lists the call sites");
    if (site.most_bytes == 0) site.most_bytes = largest;
    layout.site_caches.push_back(std::move(site));
  }
  add_heap(std::move(layout), true);
}

void Simulation::State::plan_suggestions() {
  result_.suggestions = std::move(request_.suggestions);
  if (result_.suggestions.empty()) return;
  SlabLayout all;
  all.name = "with all suggestions";
  for (const CacheSuggestion& suggestion : result_.suggestions) all.site_caches.push_back(site_cache_of(suggestion));
  add_heap(std::move(all), true);
}

void Simulation::State::kind(const ObjectKind& given) {
  HeapReplay::kind(given);
  Checked& checked = kinds_.emplace_back();
  const Origin& origin = given.origin;
  if (origin.allocator == Allocator::slab && !origin.from_cache)
    checked.predicted = kmalloc_bytes(origin.bytes_requested, result_.classes, machine());
  checked.kind = given;
  if (check_) check_->kind(given);
}

void Simulation::State::began(std::uint32_t object, std::uint32_t kind, const Event& event, bool again) {
  HeapReplay::began(object, kind, event, again);
  if (!again) ++kinds_[kind].allocations;
  ++result_.live_at_end;
  if (check_) check_->began(object, kind, event);
}

void Simulation::State::ended(std::uint32_t object, const Event& event, bool freed) {
  HeapReplay::ended(object, event, freed);
  --result_.live_at_end;
  if (!freed) ++kinds_[kind_of(object)].unseen_frees;
  if (check_) check_->ended(object, kind_of(object), event);
}

void Simulation::State::freed_older(const Event& event) {
  ++result_.older_frees;
  if (check_) check_->freed_older(event, info_.tables.cache_names[event.cache.value]);
}

// Checks for each kmalloc whether its bytes_alloc field equals the size that the model predicts.
void Simulation::State::compare_bytes() {
  std::map<std::tuple<std::string, std::uint64_t, std::uint64_t>, ModelMismatch> mismatches;
  for (const Checked& checked : kinds_) {
    const Origin& origin = checked.kind.origin;
    if (origin.from_cache && checked.kind.cache.empty()) result_.unnamed_objects += checked.allocations;
    if (checked.predicted == 0) continue;
    result_.kmallocs += checked.allocations;
    if (checked.predicted == origin.bytes_allocated) {
      result_.kmallocs_reproduced += checked.allocations;
      continue;
    }
    ModelMismatch& mismatch = mismatches[{symbol_of(origin), origin.bytes_requested, origin.bytes_allocated}];
    mismatch.site = symbol_of(origin);
    mismatch.requested = origin.bytes_requested;
    mismatch.recorded = origin.bytes_allocated;
    mismatch.predicted = checked.predicted;
    mismatch.allocations += checked.allocations;
  }
  for (auto& [key, mismatch] : mismatches) result_.mismatches.push_back(std::move(mismatch));
  std::ranges::stable_sort(result_.mismatches, std::greater<>{}, &ModelMismatch::allocations);
}

void Simulation::State::sum_unseen_frees() {
  std::map<std::string, UnseenFrees> caches;
  for (const Checked& checked : kinds_) {
    UnseenFrees& cache = caches[checked.kind.cache];
    cache.objects += checked.unseen_frees;
    cache.allocations += checked.allocations;
  }
  for (auto& [name, cache] : caches) {
    cache.cache = name;
    if (cache.objects > 0) result_.unseen_frees.push_back(std::move(cache));
  }
  std::ranges::stable_sort(result_.unseen_frees, std::greater<>{}, &UnseenFrees::objects);
}

SimulationResult Simulation::State::finish(bool complete) {
  result_.trace = summarize(info_);
  span().store_in(result_.trace);
  result_.trace.recorded_ns = recorded_time(info_, span(), complete).length_ns();
  result_.trace.complete = complete;
  result_.findings = findings_of(info_);
  const std::uint64_t trace_end_ns = end_ns();
  result_.start_ns = start_ns();
  for (const HeapSimulation& heap : heaps()) result_.heaps.push_back(heap.result(trace_end_ns));
  result_.bucket_ns = heaps().front().bucket_ns();
  compare_bytes();
  sum_unseen_frees();
  if (check_ && complete) result_.slabinfo = check_->compare(request_.slabinfo_after);
  return std::move(result_);
}

Simulation::Simulation(const TraceInfo& info, const SymbolNames& symbols, CacheNames& caches, SimulationRequest request,
                       const std::vector<ProfiledKind>& profile) {
  KmallocModel model = kmalloc_model(info, request, profile);
  state_ = std::make_unique<State>(info, symbols, caches, std::move(request), profile, std::move(model));
}
Simulation::~Simulation() = default;

void Simulation::add(EventBatch& batch) { state_->add(batch); }
void Simulation::replay(const ObjectLog& log) { state_->replay(log); }

SimulationResult Simulation::finish(bool complete) { return state_->finish(complete); }

}  // namespace kmt
