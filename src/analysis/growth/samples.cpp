// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/samples.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "analysis/growth/clusters.hpp"
#include "analysis/heap/names.hpp"
#include "analysis/heap/sample_stacks.hpp"
#include "analysis/matching/own_interrupt.hpp"
#include "analysis/matching/slab_account.hpp"
#include "analysis/series/estimate.hpp"
#include "results/series/thresholds.hpp"
#include "trace/code/untraced_paths.hpp"

namespace kmt {

namespace {

std::string cache_of(const HeapSample& sample, std::uint64_t page_bytes) {
  if (sample.pages)
    return pages_name(
        static_cast<std::uint64_t>(std::bit_width(std::max<std::uint64_t>(sample.allocated / page_bytes, 1))) - 1);
  if (!sample.cache.empty()) return std::string(sample.cache);
  return sample.kmalloc ? kmalloc_name(sample.allocated) : objects_name(sample.allocated);
}

// True for memory that the kernel may reclaim when memory is short, or may free through a path without a tracepoint.
bool is_not_judged(const std::string& cache, const std::string& call_site,
                   const std::optional<KernelVersion>& version) {
  return is_shrinkable_site(call_site) ||
         (!cache.starts_with("kmalloc-") &&
          (is_shrinkable(cache, {}) || untraced_free_of(cache, call_site, version) != nullptr));
}

}  // namespace

SampleGrowth::SampleGrowth(std::uint64_t mean_bytes, bool pages, const SymbolNames& symbols, std::uint64_t begin_ns,
                           double seconds, std::uint32_t own_process, std::uint64_t page_bytes)
    : mean_bytes_(mean_bytes),
      pages_(pages),
      symbols_(symbols),
      begin_ns_(begin_ns),
      step_ns_(std::max<std::uint64_t>(static_cast<std::uint64_t>(seconds * 1e9 / kFineSteps), 1)),
      own_process_(own_process),
      page_bytes_(page_bytes) {}

std::uint32_t SampleGrowth::step_of(std::uint64_t time_ns) const {
  const std::uint64_t since = time_ns > begin_ns_ ? time_ns - begin_ns_ : 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(since / step_ns_, kFineSteps));
}

void SampleGrowth::change(Group& group, std::uint32_t step, double bytes) {
  if (!group.changes.empty() && group.changes.back().step == step)
    group.changes.back().bytes += bytes;
  else
    group.changes.push_back({step, bytes});
}

void SampleGrowth::forget(const Live& object, std::uint32_t step) {
  Group& group = groups_[object.group];
  --group.live;
  group.objects -= object.objects;
  group.bytes -= object.bytes;
  change(group, step, -object.bytes);
}

void SampleGrowth::add(const HeapSample& from_kernel) {
  HeapSample sample = from_kernel;
  if (sample.context == AllocationContext::hardirq && is_for_interrupted_task(sample.stack, symbols_))
    sample.context = AllocationContext::task;
  const bool is_task = sample.context == AllocationContext::task;
  if (is_task && sample.process == own_process_) return;
  ++samples_;
  const std::string cache = cache_of(sample, page_bytes_);
  const double objects = 1 / probability_of(sample.allocated, mean_bytes_);
  allocations_[cache] += objects;
  if (!sample.followed) return;
  const auto [at, is_new] = ids_.try_emplace(identity_of(sample), static_cast<std::uint32_t>(groups_.size()));
  if (is_new && groups_.size() >= kMostGroups) {
    ids_.erase(at);
    ++not_kept_;
    return;
  }
  if (is_new) {
    const std::span<const std::uint64_t> stack = stack_of_allocation(sample, symbols_);
    Group& group = groups_.emplace_back();
    group.stack.assign(stack.begin(), stack.end());
    if (group.stack.empty() && sample.call_site != 0) group.stack.push_back(sample.call_site);
    group.cgroup = is_task ? sample.cgroup : 0;
    group.process = is_task ? sample.process : 0;
    group.task = task_text(sample.context, sample.comm);
    group.cache = cache;
    group.pages = sample.pages;
  }
  Group& group = groups_[at->second];
  const Live live{at->second, step_of(sample.time_ns), objects, objects * static_cast<double>(sample.allocated)};
  const auto [known, is_first] = live_.try_emplace(sample.pointer, live);
  if (!is_first) {
    forget(known->second, known->second.step);  // another live object had this address: its end was not seen
    known->second = live;
  }
  ++group.live;
  group.objects += live.objects;
  group.bytes += live.bytes;
  change(group, live.step, live.bytes);
}

void SampleGrowth::end(const HeapSampleEnd& end) {
  const auto at = live_.find(end.pointer);
  if (at == live_.end()) return;
  if (!end.duplicate_event) {
    Group& group = groups_[at->second.group];
    ++(end.replaced ? group.replaced : group.freed);
  }
  forget(at->second, step_of(end.time_ns));
  live_.erase(at);
}

std::set<SampleGrowth::Place> SampleGrowth::freed_unseen() const {
  struct Ends {
    std::uint64_t others = 0;
    std::uint64_t replaced = 0;
  };
  std::map<Place, Ends> places;
  for (const Group& group : groups_) {
    Ends& ends = places[place_of(group)];
    ends.others += group.freed + group.live;
    ends.replaced += group.replaced;
  }
  std::set<Place> unseen;
  for (const auto& [place, ends] : places)
    if (ends.replaced >= kThresholds.fewest_unseen_samples &&
        ends.others <= kThresholds.samples_per_unseen * ends.replaced)
      unseen.insert(place);
  return unseen;
}

void SampleGrowth::reconcile(const std::function<bool(std::uint64_t)>& lives) {
  std::erase_if(live_, [&](const auto& object) {
    const bool is_gone = !lives(object.first);
    if (is_gone) forget(object.second, object.second.step);
    return is_gone;
  });
}

GrowthSeen SampleGrowth::seen(std::uint64_t end_ns, const std::string& release,
                              const std::function<std::string(std::uint64_t)>& cgroup_name) const {
  GrowthSeen seen;
  const std::size_t over = std::max<std::size_t>(step_of(end_ns), 1);  // number of fine steps
  const std::size_t together = (over + kSteps - 1) / kSteps;
  seen.step_seconds = static_cast<double>(step_ns_ * together) / 1e9;
  seen.steps = over / together;
  seen.mean_bytes = mean_bytes_;
  seen.pages = pages_;
  const auto version = version_of(release);
  const auto unseen = freed_unseen();
  for (const Group& from : groups_) {
    if (from.live == 0) continue;
    GrowthGroup& group = seen.groups.emplace_back();
    for (const std::uint64_t address : from.stack) group.stack.push_back(symbols_.name(address));
    if (group.stack.empty()) group.stack.emplace_back("unknown");
    group.cache = from.cache;
    group.task = from.task;
    group.process = from.process;
    if (from.cgroup != 0) group.cgroup = cgroup_name(from.cgroup);
    if (from.pages) {
      const PageOwner owner = find_page_owner(group.stack);
      if (owner.is_slab) {
        seen.groups.pop_back();
        continue;
      }
      if (owner.is_vmalloc) group.cache = "vmalloc areas";
      if (owner.is_page_table) group.cache = kPageTables;
      group.excluded = owner.excluded;
    } else {
      group.excluded = unseen.contains(place_of(from)) || is_not_judged(group.cache, group.stack.front(), version);
    }
    group.seen = from.live;
    group.objects = from.objects;
    group.bytes = from.bytes;
    // Samples of different CPUs may arrive slightly out of order, so first sum up the changes of each step.
    std::vector<double> changes(seen.steps);
    for (const Change& one : from.changes)
      if (one.step / together < seen.steps)
        changes[one.step / together] += one.bytes;  // the condition drops an incomplete last step
    double live = 0;
    for (const double one : changes) group.live.push_back(live += one);
  }
  return seen;
}

void include_page_tables(const std::function<bool(std::uint32_t)>& has_too_many, GrowthSeen& seen) {
  std::map<std::uint32_t, bool> processes;
  for (GrowthGroup& group : seen.groups) {
    if (group.cache != kPageTables || group.process == 0) continue;
    const auto [known, is_new] = processes.try_emplace(group.process, false);
    if (is_new) known->second = has_too_many(group.process);
    if (known->second) group.excluded = false;
  }
}

}  // namespace kmt
