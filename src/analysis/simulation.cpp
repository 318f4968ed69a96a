// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/simulation.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/slab_account.hpp"
#include "analysis/slabinfo_check.hpp"
#include "base/error.hpp"

namespace kmt {

namespace {

// Since Linux 5.14 what is accounted to control groups has caches of its own, in every distribution's configuration.
bool usually_has_cgroup_caches(const TraceInfo& info) {
  const auto version = version_of(info.kernel);
  return !version || *version >= KernelVersion{5, 14};
}

bool has_cache(const std::vector<SlabInfo>& slabinfo, std::string_view prefix) {
  return std::ranges::any_of(slabinfo, [prefix](const SlabInfo& slab) { return slab.name.starts_with(prefix); });
}

std::uint64_t least_class(const std::vector<SlabInfo>& slabinfo) {
  constexpr std::string_view kPrefix = "kmalloc-";
  std::uint64_t least = 0;
  for (const SlabInfo& slab : slabinfo) {
    if (!slab.name.starts_with(kPrefix)) continue;
    std::uint64_t bytes = 0;
    const char* const end = slab.name.data() + slab.name.size();
    const auto [stop, code] = std::from_chars(slab.name.data() + kPrefix.size(), end, bytes);
    if (code == std::errc{} && stop == end && bytes > 0 && (least == 0 || bytes < least)) least = bytes;
  }
  return least;
}

std::vector<std::uint64_t> merged(std::vector<std::uint64_t> classes, const std::vector<std::uint64_t>& more) {
  classes.insert(classes.end(), more.begin(), more.end());
  std::ranges::sort(classes);
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

// Which of the caches that kmalloc chooses from by call site, since Linux 6.6, is a secret of the running kernel. Here
// as many are chosen from as evenly.
constexpr std::uint64_t kRandomCaches = 16;  // RANDOM_KMALLOC_CACHES_NR, and the usual one
std::uint64_t random_cache(std::uint64_t call_site) { return (call_site * 0x9E3779B97F4A7C15ull) >> 60; }

}  // namespace

void name_kmalloc_caches(const TraceInfo& info, const SimulationRequest& request, CacheNames& caches) {
  if (request.slabinfo_before.empty() ? usually_has_cgroup_caches(info)
                                      : has_cache(request.slabinfo_before, "kmalloc-cg-"))
    caches.take_cgroup_caches_for_given();
}

class Simulation::State : public ObjectSink {
 public:
  State(const TraceInfo& info, const SymbolNames& symbols, CacheNames& caches, SimulationRequest request,
        const std::vector<ProfiledKind>& profile);

  void add(EventBatch& batch) { stream_.add(batch); }
  SimulationResult finish(bool complete);

 private:
  struct Checked {
    std::uint64_t predicted = 0;  // 0: no kmalloc
    std::uint64_t allocations = 0;
    ObjectKind kind;
  };

  void kind(const ObjectKind& kind) override;
  void began(std::uint32_t object, std::uint32_t kind, const Event& event, bool again) override;
  void ended(std::uint32_t object, const Event& event, bool freed) override;
  void freed_older(const Event& event) override;

  void find_classes(const std::vector<ProfiledKind>& profile);
  void plan_what_if(const std::vector<ProfiledKind>& profile);
  void plan_suggestions(const std::vector<ProfiledKind>& profile);
  void add_heap(SlabLayout layout, bool keeps_series) {
    heaps_.emplace_back(std::move(layout), machine_, keeps_series);
  }
  std::uint64_t since_start(const Event& event);
  std::string symbol_of(const Origin& origin) const;
  void compare_bytes();
  void replay_suggestion(CacheSuggestion& suggestion, const HeapSimulation& heap) const;

  const TraceInfo& info_;
  const SymbolNames& symbols_;
  SimulationRequest request_;
  SlabMachine machine_;
  ObjectStream stream_;
  SimulationResult result_;
  std::vector<HeapSimulation> heaps_;  // as recorded, then what is asked for, or all suggestions, then each of them
  std::size_t whole_heaps_ = 0;        // that are shown themselves
  std::optional<SlabinfoCheck> check_;
  std::vector<Checked> kinds_;        // by number
  std::vector<std::uint32_t> alive_;  // the kind of each object
  std::uint64_t now_ns_ = 0;          // since the start
  bool begun_ = false;
};

Simulation::State::State(const TraceInfo& info, const SymbolNames& symbols, CacheNames& caches,
                         SimulationRequest request, const std::vector<ProfiledKind>& profile)
    : info_(info),
      symbols_(symbols),
      request_(std::move(request)),
      machine_(slab_machine_of(info)),
      stream_(info, symbols, caches, *this),
      kinds_(1) {
  result_.kernel_known = version_of(info.kernel).has_value();
  result_.caches_assumed = request_.slabinfo_before.empty();
  result_.cgroup_caches =
      result_.caches_assumed ? usually_has_cgroup_caches(info) : has_cache(request_.slabinfo_before, "kmalloc-cg-");
  result_.random_caches = has_cache(request_.slabinfo_before, "kmalloc-rnd-01-");
  find_classes(profile);
  SlabLayout recorded;
  recorded.name = "as recorded";
  add_heap(recorded, true);
  if (request_.asks_for_what_if())
    plan_what_if(profile);
  else
    plan_suggestions(profile);
  if (!request_.slabinfo_before.empty() && !request_.slabinfo_after.empty())
    check_.emplace(request_.slabinfo_before, machine_);
}

void Simulation::State::find_classes(const std::vector<ProfiledKind>& profile) {
  std::uint64_t least = least_class(request_.slabinfo_before);
  result_.least_class_from = "slabinfo";
  if (least == 0) {
    least = least_kmalloc_class(machine_);
    result_.least_class_from = "the architecture";
  }
  if (least == 0) {
    least = 2 * machine_.page_bytes;
    for (const ProfiledKind& kind : profile) least = std::min(least, kind.given);
    result_.least_class_from = "the trace";
  }
  result_.classes = kmalloc_classes(least, machine_);
}

void Simulation::State::plan_what_if(const std::vector<ProfiledKind>& profile) {
  SlabLayout layout;
  layout.name = "asked for";
  layout.allocator = request_.allocator;
  if (!request_.classes.empty() || !request_.new_classes.empty())
    layout.classes = merged(request_.classes.empty() ? result_.classes : request_.classes, request_.new_classes);
  else if (request_.allocator == SlabAllocator::slab)
    layout.classes =
        kmalloc_classes(std::max<std::uint64_t>(32, result_.classes.front()), machine_);  // KMALLOC_SHIFT_LOW
  for (SiteCache site : request_.site_caches) {
    std::uint64_t largest = 0;
    for (const ProfiledKind& kind : profile)
      if (matches_site(site.glob, kind.symbol)) largest = std::max(largest, kind.requested);
    if (largest == 0)
      throw Error(fmt::format("--cache {}: no such site gets an object of kmalloc's caches in this trace", site.glob))
          .hint("kmemtrace report --by call-site shows which sites there are");
    if (site.most_bytes == 0) site.most_bytes = largest;
    layout.site_caches.push_back(std::move(site));
  }
  add_heap(std::move(layout), true);
  whole_heaps_ = heaps_.size();
}

void Simulation::State::plan_suggestions(const std::vector<ProfiledKind>& profile) {
  result_.suggests_traffic = request_.suggestions.by_traffic;
  result_.suggestions = suggest_caches(profile, result_.classes, machine_, request_.suggestions);
  SlabLayout all;
  all.name = "with all suggestions";
  const auto add_to = [](SlabLayout& layout, const CacheSuggestion& suggestion) {
    layout.site_caches.push_back({suggestion.function, suggestion.above_bytes, suggestion.object_bytes});
  };
  for (const CacheSuggestion& suggestion : result_.suggestions) add_to(all, suggestion);
  if (!result_.suggestions.empty()) add_heap(std::move(all), true);
  whole_heaps_ = heaps_.size();
  for (const CacheSuggestion& suggestion : result_.suggestions) {
    SlabLayout one;
    one.name = "one suggestion";
    one.only.insert(suggestion.from.begin(), suggestion.from.end());
    add_to(one, suggestion);
    add_heap(std::move(one), false);
  }
}

std::string Simulation::State::symbol_of(const Origin& origin) const {
  const std::uint64_t address = info_.call_sites[origin.call_site.value];
  return address == 0 ? std::string() : symbols_.name(address);
}

void Simulation::State::kind(const ObjectKind& told) {
  ObjectKind kind = told;
  const Origin& origin = kind.origin;
  Checked& checked = kinds_.emplace_back();
  if (origin.allocator == Allocator::slab && !origin.from_cache) {
    checked.predicted = kmalloc_bytes(origin.bytes_requested, result_.classes, machine_);
    const bool is_large = is_large_kmalloc(EventKind::kmalloc, origin.bytes_allocated, machine_.page_bytes);
    if (result_.random_caches && !is_large && kmalloc_prefix(kind.cache) == "kmalloc-")
      kind.cache += fmt::format(" (random {})", random_cache(info_.call_sites[origin.call_site.value]) % kRandomCaches);
  }
  checked.kind = kind;
  const std::string symbol = symbol_of(origin);
  for (HeapSimulation& heap : heaps_) heap.kind(kind, symbol);
  if (check_) check_->kind(told);
}

// A damaged trace's time may go back; the models' does not.
std::uint64_t Simulation::State::since_start(const Event& event) {
  if (!begun_) result_.start_ns = event.time_ns;
  begun_ = true;
  const std::uint64_t ns = event.time_ns > result_.start_ns ? event.time_ns - result_.start_ns : 0;
  return now_ns_ = std::max(now_ns_, ns);
}

void Simulation::State::began(std::uint32_t object, std::uint32_t kind, const Event& event, bool again) {
  const std::uint64_t ns = since_start(event);
  if (alive_.size() <= object) alive_.resize(object + std::size_t{1});
  alive_[object] = kind;
  if (!again) ++kinds_[kind].allocations;
  ++result_.live_at_end;
  for (HeapSimulation& heap : heaps_) heap.began(object, kind, ns, event.cpu, event.node, again);
  if (check_) check_->began(object, kind, event);
}

void Simulation::State::ended(std::uint32_t object, const Event& event, bool freed) {
  const std::uint64_t ns = since_start(event);
  const std::uint32_t kind = alive_[object];
  --result_.live_at_end;
  if (!freed) ++result_.never_freed;
  for (HeapSimulation& heap : heaps_) heap.ended(object, kind, ns, event.cpu);
  if (check_) check_->ended(object, kind, event);
}

void Simulation::State::freed_older(const Event& event) {
  ++result_.older_frees;
  if (check_) check_->freed_older(event, info_.cache_names[event.cache.value]);
}

// bytes_alloc of each kmalloc against what the model gives.
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

void Simulation::State::replay_suggestion(CacheSuggestion& suggestion, const HeapSimulation& heap) const {
  const SimulatedHeap then = heap.result(now_ns_);
  for (const SimulatedCache& cache : then.caches) {
    suggestion.average_held_then += cache.average.held;
    suggestion.peak_held_then += cache.peak.held;
  }
  for (const SimulatedCache& cache : result_.heaps.front().caches) {
    if (!heap.layout().only.contains(cache.name)) continue;
    suggestion.average_held += cache.average.held;
    suggestion.peak_held += cache.peak.held;
  }
  // What a CPU's list may hold of each new cache; the old caches' lists are there in both cases.
  const SlabGeometry geometry = slub_geometry(suggestion.object_bytes, machine_);
  const std::uint64_t caches = suggestion.function.empty() ? suggestion.from.size() : 1;
  suggestion.uncertain_bytes =
      caches * machine_.cpus * slub_reserves(geometry, machine_).most_cpu_slabs * geometry.slab_bytes;
}

SimulationResult Simulation::State::finish(bool complete) {
  const EventSpan& span = stream_.span();
  result_.trace = summarize(info_);
  span.store_in(result_.trace);
  result_.trace.complete = complete;
  result_.findings = findings_of(info_);
  if (span.last_ns > result_.start_ns && begun_) now_ns_ = std::max(now_ns_, span.last_ns - result_.start_ns);
  for (std::size_t i = 0; i < whole_heaps_; ++i) result_.heaps.push_back(heaps_[i].result(now_ns_));
  result_.bucket_ns = heaps_.front().bucket_ns();
  for (std::size_t i = 0; i < result_.suggestions.size(); ++i)
    replay_suggestion(result_.suggestions[i], heaps_[whole_heaps_ + i]);
  compare_bytes();
  if (check_ && complete) result_.slabinfo = check_->compare(request_.slabinfo_after);
  return std::move(result_);
}

Simulation::Simulation(const TraceInfo& info, const SymbolNames& symbols, CacheNames& caches, SimulationRequest request,
                       const std::vector<ProfiledKind>& profile)
    : state_(std::make_unique<State>(info, symbols, caches, std::move(request), profile)) {}
Simulation::~Simulation() = default;

void Simulation::add(EventBatch& batch) { state_->add(batch); }

SimulationResult Simulation::finish(bool complete) { return state_->finish(complete); }

}  // namespace kmt
