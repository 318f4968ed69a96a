// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/heap_profile.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/heap_names.hpp"

namespace kmt {

namespace {

// The frames of the tracing itself lie in front: those of the program, of what calls it, and of the tracepoint.
constexpr std::size_t kMostOwnFrames = 8;

bool is_tracing(std::string_view function) {
  return function.starts_with("bpf_") || function.starts_with("__bpf_") || function.starts_with("__traceiter_") ||
         function.starts_with("trace_call_bpf") || function.starts_with("0x");
}

// From the call site on, where that is known; else from the function that has the tracepoint.
std::span<const std::uint64_t> stack_of_allocation(const HeapSample& sample, const SymbolNames& symbols) {
  const std::span<const std::uint64_t> stack = sample.stack;
  if (sample.call_site != 0) {
    const auto caller = std::ranges::find(stack, sample.call_site);
    if (caller != stack.end()) return stack.subspan(static_cast<std::size_t>(caller - stack.begin()));
  }
  std::size_t own = 0;
  for (std::size_t i = 0; i < std::min(stack.size(), kMostOwnFrames); ++i)
    if (is_tracing(symbols.name(stack[i]))) own = i + 1;
  return stack.subspan(own);
}

template <typename Number>
void append(std::string& key, Number number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// The bytes of all that tells groups apart, as the kernel gave it: names are made once a group.
std::string identity_of(const HeapSample& sample) {
  std::string key;
  for (const std::uint64_t address : sample.stack) append(key, address);
  append(key, sample.call_site);
  append(key, sample.context);
  append(key, sample.context == AllocationContext::task ? sample.process : 0);
  append(key, sample.cgroup);
  append(key, sample.pages);
  if (sample.cache.empty()) append(key, sample.allocated);
  return key.append(sample.context == AllocationContext::task ? sample.comm : "").append(1, '\0').append(sample.cache);
}

bool is_larger(const HeapFigures& a, const HeapFigures& b) {
  return a.live_bytes.value != b.live_bytes.value ? a.live_bytes.value > b.live_bytes.value
                                                  : a.bytes.value > b.bytes.value;
}

}  // namespace

struct HeapProfile::Sums {
  std::uint64_t samples = 0;
  std::uint64_t live_samples = 0;
  Estimator objects, bytes, requested, live_objects, live_bytes;

  void add(const Sums& other) {
    samples += other.samples;
    live_samples += other.live_samples;
    objects.add(other.objects);
    bytes.add(other.bytes);
    requested.add(other.requested);
    live_objects.add(other.live_objects);
    live_bytes.add(other.live_bytes);
  }
  // Of one call site, stack or the like, whose objects are much alike.
  HeapFigures figures() const { return figures(0, 0); }
  // Of all objects: some that are smaller than any that was drawn may be among them.
  HeapFigures figures(double unseen_objects, double unseen_bytes) const {
    return {samples,
            live_samples,
            objects.estimate(unseen_objects),
            bytes.estimate(unseen_bytes),
            requested.estimate(unseen_bytes),
            live_objects.estimate(unseen_objects),
            live_bytes.estimate(unseen_bytes)};
  }
};

HeapProfile::HeapProfile(std::uint64_t mean_bytes, const SymbolNames& symbols,
                         std::function<std::string(std::uint64_t)> cgroup_name)
    : mean_bytes_(mean_bytes), symbols_(symbols), callers_(symbols, wrappers_), cgroup_name_(std::move(cgroup_name)) {}

std::uint32_t HeapProfile::group_of(const HeapSample& sample, std::string key) {
  const auto [at, is_new] = group_ids_.try_emplace(std::move(key), static_cast<std::uint32_t>(groups_.size()));
  if (is_new) {
    const std::span<const std::uint64_t> stack = stack_of_allocation(sample, symbols_);
    Group group;
    group.stack.assign(stack.begin(), stack.end());
    const std::size_t caller = callers_.caller(stack);
    group.caller = caller < stack.size() ? stack[caller] : sample.call_site;
    group.call_site = sample.call_site != 0 ? sample.call_site : group.caller;
    group.cache = cache_text(sample.cache, sample.pages, sample.allocated);
    group.task = task_text(sample.context, sample.comm);
    group.process = sample.context == AllocationContext::task ? sample.process : 0;
    group.cgroup = sample.cgroup;
    group.pages = sample.pages;
    groups_.push_back(std::move(group));
  }
  return at->second;
}

void HeapProfile::add(const HeapSample& sample) {
  const std::uint32_t id = group_of(sample, identity_of(sample));
  const double probability = probability_of(sample.allocated, mean_bytes_);
  Group& group = groups_[id];
  ++group.samples;
  group.objects.add(1, probability);
  group.bytes.add(static_cast<double>(sample.allocated), probability);
  group.requested.add(static_cast<double>(sample.requested), probability);
  if (sample.followed) live_.insert_or_assign(sample.pointer, Live{id, sample.allocated});
}

void HeapProfile::end(const HeapSampleEnd& end) {
  if (live_.erase(end.pointer) > 0 && end.replaced) ++replaced_;
}

void HeapProfile::reconcile(const std::function<bool(std::uint64_t)>& lives) {
  std::erase_if(live_, [&](const auto& object) { return !lives(object.first); });
}

// Only groups of what lives are kept: processes come and go.
void HeapProfile::begin_interval() {
  constexpr std::uint32_t kGone = ~0u;
  std::vector<std::uint32_t> new_ids(groups_.size(), kGone);
  std::vector<Group> kept;
  for (auto& [pointer, object] : live_) {
    std::uint32_t& id = new_ids[object.group];
    if (id == kGone) {
      id = static_cast<std::uint32_t>(kept.size());
      kept.push_back(std::move(groups_[object.group]));
      kept.back().samples = 0;
      kept.back().objects = kept.back().bytes = kept.back().requested = {};
    }
    object.group = id;
  }
  groups_ = std::move(kept);
  std::erase_if(group_ids_, [&](const auto& group) { return new_ids[group.second] == kGone; });
  for (auto& [key, id] : group_ids_) id = new_ids[id];
  replaced_ = 0;
}

std::string HeapProfile::key_text(HeapKey key, const Group& group) const {
  switch (key) {
    case HeapKey::call_site: return group.call_site == 0 ? "unknown" : symbols_.name(group.call_site);
    case HeapKey::caller:
    case HeapKey::stack: return group.caller == 0 ? "unknown" : symbols_.name(group.caller);
    case HeapKey::process: return group.process == 0 ? group.task : fmt::format("{}-{}", group.task, group.process);
    case HeapKey::cache: return group.cache;
    case HeapKey::cgroup: return cgroup_name_(group.cgroup);
  }
  return {};
}

HeapProfileResult HeapProfile::result(const std::vector<HeapKey>& by) const {
  std::vector<Sums> sums(groups_.size());
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    sums[i].samples = groups_[i].samples;
    sums[i].objects = groups_[i].objects;
    sums[i].bytes = groups_[i].bytes;
    sums[i].requested = groups_[i].requested;
  }
  for (const auto& [pointer, object] : live_) {
    const double probability = probability_of(object.bytes, mean_bytes_);
    Sums& of = sums[object.group];
    ++of.live_samples;
    of.live_objects.add(1, probability);
    of.live_bytes.add(static_cast<double>(object.bytes), probability);
  }

  HeapProfileResult result;
  result.mean_bytes = mean_bytes_;
  result.by = by;
  result.replaced = replaced_;
  const bool by_stack = std::ranges::find(by, HeapKey::stack) != by.end();
  using RowKey = std::tuple<bool, std::vector<std::string>, std::vector<std::uint64_t>>;
  std::map<RowKey, Sums> rows;
  Sums slab;
  Sums pages;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    if (sums[i].samples + sums[i].live_samples == 0) continue;
    (group.pages ? pages : slab).add(sums[i]);
    std::vector<std::string> keys;
    keys.reserve(by.size());
    for (const HeapKey key : by) keys.push_back(key_text(key, group));
    rows[{group.pages, std::move(keys), by_stack ? group.stack : std::vector<std::uint64_t>()}].add(sums[i]);
    result.stacks.push_back({group.stack, group.cache, group.task, group.process, cgroup_name_(group.cgroup),
                             group.pages, sums[i].figures()});
  }
  // No sample stands for more bytes than the distance between samples; for how many objects, only their sizes tell.
  const auto mean = static_cast<double>(mean_bytes_);
  const auto of_all = [mean](const Sums& all) {
    return all.figures(std::max(all.objects.largest(), all.live_objects.largest()), mean);
  };
  result.slab = of_all(slab);
  result.pages = of_all(pages);
  for (const auto& [key, row] : rows)
    result.rows.push_back({std::get<1>(key), std::get<2>(key), std::get<0>(key), row.figures()});
  std::ranges::stable_sort(result.rows, is_larger, &HeapRow::figures);
  std::ranges::stable_sort(result.stacks, is_larger, &HeapStackRow::figures);
  return result;
}

}  // namespace kmt
