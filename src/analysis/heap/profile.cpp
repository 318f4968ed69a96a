// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/heap/profile.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/heap/names.hpp"
#include "analysis/heap/sample_stacks.hpp"
#include "analysis/matching/own_interrupt.hpp"
#include "analysis/matching/page_use.hpp"
#include "results/group.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostProcessNames = 1 << 16;

// Returns a key of the properties that a group keeps when groups are merged. The other overload returns the key of a
// sample.
std::string identity_of(const DrawnGroup& group) {
  std::string key;
  for (const std::uint64_t address : group.stack) append_bytes(key, address);
  append_bytes(key, group.call_site);
  append_bytes(key, group.context);
  append_bytes(key, group.cgroup);
  append_bytes(key, group.pages);
  if (group.cache.empty()) append_bytes(key, group.sizes.front().allocated);
  return key.append(group.cache);
}

// True if this is a merged group, which contains freed objects of many processes. Such a group has pid 0 and a name
// that no task with pid 0 has. In the kernel, pid 0 belongs to idle tasks, which are named "swapper/0".
bool is_folded(const DrawnGroup& group) { return group.process == 0 && group.comm == kOthers; }

void add_size(std::vector<DrawnSize>& sizes, const DrawnSize& more) {
  const auto same = std::ranges::find_if(
      sizes, [&](const DrawnSize& one) { return one.requested == more.requested && one.allocated == more.allocated; });
  if (same == sizes.end())
    sizes.push_back(more);
  else
    same->drawn += more.drawn;
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

  Sums() = default;
  Sums(const DrawnGroup& group, std::uint64_t mean_bytes) {
    for (const DrawnSize& size : group.sizes) {
      const double probability = probability_of(size.allocated, mean_bytes);
      const auto allocated_bytes = static_cast<double>(size.allocated);
      samples += size.drawn;
      live_samples += size.live;
      objects.add(size.drawn, 1, probability);
      bytes.add(size.drawn, allocated_bytes, probability);
      requested.add(size.drawn, static_cast<double>(size.requested), probability);
      live_objects.add(size.live, 1, probability);
      live_bytes.add(size.live, allocated_bytes, probability);
    }
  }
  void add(const Sums& other) {
    samples += other.samples;
    live_samples += other.live_samples;
    objects.add(other.objects);
    bytes.add(other.bytes);
    requested.add(other.requested);
    live_objects.add(other.live_objects);
    live_bytes.add(other.live_bytes);
  }
  // Returns the estimates for the row. `unseen_bytes` is the weight that one sample would have. It bounds the error if
  // the row has no samples yet. Assumes that an object that was not sampled is at most as large as the largest sampled
  // object.
  HeapFigures figures(double unseen_bytes = 0) const {
    const double of_objects = std::max(objects.largest(), live_objects.largest());
    const double of_bytes = std::max({bytes.largest(), live_bytes.largest(), unseen_bytes});
    return {samples,
            live_samples,
            objects.estimate(of_objects),
            bytes.estimate(of_bytes),
            requested.estimate(of_bytes),
            live_objects.estimate(of_objects),
            live_bytes.estimate(of_bytes)};
  }
};

HeapProfile::HeapProfile(std::uint64_t mean_bytes, const SymbolNames& symbols,
                         std::function<std::string(std::uint64_t)> cgroup_name)
    : mean_bytes_(mean_bytes),
      symbols_(symbols),
      callers_(symbols, wrappers_),
      directories_(symbols.module_directories()),
      cgroup_name_(std::move(cgroup_name)) {}

void HeapProfile::find_caller(Group& group) {
  const DrawnGroup& drawn = group.drawn;
  const std::size_t caller = callers_.caller(drawn.stack);
  group.caller = caller < drawn.stack.size() ? drawn.stack[caller] : drawn.call_site;
  group.call_site = drawn.call_site != 0 ? drawn.call_site : group.caller;
  const PageUse use = drawn.pages ? page_use_of(drawn.stack, symbols_) : PageUse::unknown;
  group.slab_pages = use == PageUse::slab || use == PageUse::reclaimable_slab;
  group.user_pages = use == PageUse::user || use == PageUse::page_cache;
}

HeapProfile::ProcessName& HeapProfile::name_of(std::uint32_t process) {
  // Processes start and end all the time, so all names are dropped when there are too many. A process whose name was
  // dropped is shown with the name that it had when it allocated.
  if (process_names_.size() >= kMostProcessNames && !process_names_.contains(process)) process_names_.clear();
  return process_names_[process];
}

void HeapProfile::name_process(std::uint32_t process, std::string_view comm) {
  if (ProcessName& name = name_of(process); !name.sampled) name.comm = comm;
}

void HeapProfile::begin_naming_interval() {
  for (auto& [process, name] : process_names_) name.sampled = false;
}

void HeapProfile::name_sampled(AllocationContext context, std::uint32_t process, std::string_view comm) {
  if (context != AllocationContext::task || process == 0) return;  // all idle tasks have process ID 0
  ProcessName& name = name_of(process);
  name.comm = comm;
  name.sampled = true;
}

std::string HeapProfile::process_name(AllocationContext context, std::string_view comm, std::uint32_t process) const {
  const auto current = process_names_.find(process);
  return process_text(context, current == process_names_.end() ? comm : std::string_view(current->second.comm),
                      process);
}

void HeapProfile::names_changed() {
  callers_.names_changed();
  directories_ = SourceDirectories(symbols_.module_directories());
  for (Group& group : groups_) find_caller(group);
}

HeapProfile::Group HeapProfile::make_group(DrawnGroup drawn) {
  Group group;
  group.cache = cache_text(drawn.cache, drawn.pages, drawn.sizes.front().allocated);
  group.task = task_text(drawn.context, drawn.comm);
  group.drawn = std::move(drawn);
  find_caller(group);
  return group;
}

std::uint32_t HeapProfile::group_of(const HeapSample& sample) {
  const auto [at, is_new] = group_ids_.try_emplace(identity_of(sample), static_cast<std::uint32_t>(groups_.size()));
  if (is_new) {
    const std::span<const std::uint64_t> stack = stack_of_allocation(sample, symbols_);
    const bool is_task = sample.context == AllocationContext::task;
    DrawnGroup drawn;
    drawn.stack.assign(stack.begin(), stack.end());
    drawn.call_site = sample.call_site;
    drawn.cgroup = is_task ? sample.cgroup : 0;
    drawn.process = is_task ? sample.process : 0;
    drawn.context = sample.context;
    drawn.pages = sample.pages;
    if (is_task) drawn.comm = sample.comm;
    drawn.cache = sample.cache;
    drawn.sizes.push_back({sample.requested, sample.allocated});
    groups_.push_back(make_group(std::move(drawn)));
  }
  return at->second;
}

void HeapProfile::add(const HeapSample& from_kernel) {
  HeapSample sample = from_kernel;
  if (sample.context == AllocationContext::hardirq && is_for_interrupted_task(sample.stack, symbols_))
    sample.context = AllocationContext::task;
  if (groups_.size() >= groups_to_fold_) fold_ended_groups();
  name_sampled(sample.context, sample.process, sample.comm);
  const std::uint32_t id = group_of(sample);
  std::vector<DrawnSize>& sizes = groups_[id].drawn.sizes;
  auto size = std::ranges::find_if(sizes, [&](const DrawnSize& one) {
    return one.requested == sample.requested && one.allocated == sample.allocated;
  });
  if (size == sizes.end()) size = sizes.insert(size, {sample.requested, sample.allocated});
  ++size->drawn;
  if (!sample.followed) return;
  ++size->live;
  const Live live{id, static_cast<std::uint32_t>(size - sizes.begin())};
  const auto [at, is_new] = live_.try_emplace(sample.pointer, live);
  if (!is_new) --size_of(std::exchange(at->second, live)).live;
}

void HeapProfile::add(DrawnGroup&& drawn) {
  if (drawn.sizes.empty()) return;
  name_sampled(drawn.context, drawn.process, drawn.comm);
  groups_.push_back(make_group(std::move(drawn)));
}

void HeapProfile::end(const HeapSampleEnd& end) {
  const auto at = live_.find(end.pointer);
  if (at == live_.end()) return;
  DrawnSize& size = size_of(at->second);
  --size.live;
  if (end.duplicate_event && size.drawn > 0) --size.drawn;  // 0: an earlier interval has already counted this sample
  live_.erase(at);
  if (end.replaced) ++replaced_;
}

void HeapProfile::reconcile(const std::function<bool(std::uint64_t)>& lives) {
  std::erase_if(live_, [&](const auto& object) {
    const bool is_gone = !lives(object.first);
    if (is_gone) --size_of(object.second).live;
    return is_gone;
  });
}

// Removes groups without live objects. Passes each of them to `take_other`.
void HeapProfile::keep_live_groups(const std::function<void(DrawnGroup&&)>& take_other) {
  constexpr std::uint32_t kGone = ~0u;
  std::vector<std::uint32_t> new_ids(groups_.size(), kGone);
  std::vector<Group> kept;
  for (auto& [pointer, object] : live_) {
    std::uint32_t& id = new_ids[object.group];
    if (id == kGone) {
      id = static_cast<std::uint32_t>(kept.size());
      kept.push_back(std::move(groups_[object.group]));
    }
    object.group = id;
  }
  for (std::size_t i = 0; i < groups_.size(); ++i)
    if (new_ids[i] == kGone) take_other(std::move(groups_[i].drawn));
  groups_ = std::move(kept);
  std::erase_if(group_ids_, [&](const auto& group) { return new_ids[group.second] == kGone; });
  for (auto& [key, id] : group_ids_) id = new_ids[id];
}

void HeapProfile::fold_ended_groups() {
  std::unordered_map<std::string, DrawnGroup> of_all_processes;
  std::array<DrawnGroup, 2> of_all;  // index 0: slab objects; index 1: pages
  keep_live_groups([&](DrawnGroup&& group) {
    const auto known = of_all_processes.find(identity_of(group));
    DrawnGroup* to = known == of_all_processes.end() ? nullptr : &known->second;
    if (!to && of_all_processes.size() < kMostEndedGroups) {
      to = &of_all_processes[identity_of(group)];
      *to = group;
      to->process = 0;
      if (to->context == AllocationContext::task) to->comm = kOthers;
      to->sizes.clear();
    } else if (!to) {
      to = &of_all[group.pages ? 1 : 0];
      to->pages = group.pages;
      to->comm = to->cache = kOthers;
    }
    for (const DrawnSize& size : group.sizes) add_size(to->sizes, size);
  });
  for (auto& [key, group] : of_all_processes) groups_.push_back(make_group(std::move(group)));
  for (DrawnGroup& group : of_all)
    if (!group.sizes.empty()) groups_.push_back(make_group(std::move(group)));
  groups_to_fold_ = std::max(2 * kMostEndedGroups, 2 * groups_.size());
}

void HeapProfile::begin_interval() {
  keep_live_groups([](const DrawnGroup&) {});
  for (Group& group : groups_)
    for (DrawnSize& size : group.drawn.sizes) size.drawn = 0;
  replaced_ = 0;
}

// Returns the name of the cgroup of a group, or "others" for merged groups, which have no cgroup ID.
std::string HeapProfile::cgroup_text(const DrawnGroup& group) const {
  if (group.context != AllocationContext::task) return task_text(group.context, {});
  return group.cgroup == 0 ? kOthers : cgroup_name_(group.cgroup);
}

std::string HeapProfile::owner_text(HeapKey key, std::string_view name, std::span<const SourceFrame> source) const {
  if (key == HeapKey::module) return module_name(name);
  const CodeOwner directory = directories_.of(name, source);
  const CodeOwner owner = key == HeapKey::directory ? directory : subsystem_of(directory);
  return owner.name.empty() ? kUnknownCode : plain_text(owner);
}

std::string HeapProfile::key_text(HeapKey key, const Group& group) const {
  switch (key) {
    case HeapKey::call_site: return group.call_site == 0 ? kUnknownCode : symbols_.name(group.call_site);
    case HeapKey::caller:
    case HeapKey::stack: return group.caller == 0 ? kUnknownCode : symbols_.name(group.caller);
    case HeapKey::process:
      return is_folded(group.drawn) ? kOthers
                                    : process_name(group.drawn.context, group.drawn.comm, group.drawn.process);
    case HeapKey::cache: return group.cache;
    case HeapKey::cgroup: return cgroup_text(group.drawn);
    case HeapKey::module:
    case HeapKey::subsystem:
    case HeapKey::directory:
      return group.caller == 0 ? kUnknownCode
                               : owner_text(key, symbols_.name(group.caller), symbols_.frames(group.caller));
  }
  return {};
}

HeapProfileResult HeapProfile::result(const std::vector<HeapKey>& by) const {
  HeapProfileResult result;
  result.mean_bytes = mean_bytes_;
  result.by = by;
  result.replaced = replaced_;
  const bool by_stack = std::ranges::find(by, HeapKey::stack) != by.end();
  using RowKey = std::tuple<bool, bool, bool, std::vector<std::string>, std::vector<std::uint64_t>>;
  std::map<RowKey, Sums> rows;
  Sums slab;
  Sums pages;
  for (const Group& group : groups_) {
    const Sums sums(group.drawn, mean_bytes_);
    if (sums.samples + sums.live_samples == 0) continue;
    (group.drawn.pages ? pages : slab).add(sums);
    std::vector<std::string> keys;
    keys.reserve(by.size());
    for (const HeapKey key : by) keys.push_back(key_text(key, group));
    rows[{group.drawn.pages, group.slab_pages, group.user_pages, std::move(keys),
          by_stack ? group.drawn.stack : std::vector<std::uint64_t>()}]
        .add(sums);
  }
  // A sample represents at most as many bytes as the mean distance between samples. So the number of objects that it
  // represents depends on the object size.
  const auto mean = static_cast<double>(mean_bytes_);
  result.slab = slab.figures(mean);
  result.pages = pages.figures(mean);
  for (const auto& [key, row] : rows)
    result.rows.push_back({.keys = std::get<3>(key),
                           .stack = std::get<4>(key),
                           .pages = std::get<0>(key),
                           .slab_pages = std::get<1>(key),
                           .user_pages = std::get<2>(key),
                           .figures = row.figures()});
  std::ranges::stable_sort(result.rows, is_larger, &HeapRow::figures);
  return result;
}

std::vector<HeapStackRow> HeapProfile::stacks() const {
  std::vector<HeapStackRow> stacks;
  for (const Group& group : groups_) {
    const DrawnGroup& drawn = group.drawn;
    const Sums sums(drawn, mean_bytes_);
    if (sums.samples + sums.live_samples == 0) continue;
    stacks.push_back(
        {drawn.stack, group.cache, group.task, drawn.process, cgroup_text(drawn), drawn.pages, sums.figures()});
  }
  std::ranges::stable_sort(stacks, is_larger, &HeapStackRow::figures);
  return stacks;
}

DrawnProfile HeapProfile::drawn() const {
  DrawnProfile profile;
  for (const Group& group : groups_) {
    DrawnGroup drawn = group.drawn;
    std::erase_if(drawn.sizes, [](const DrawnSize& size) { return size.drawn + size.live == 0; });
    if (drawn.sizes.empty()) continue;
    if (drawn.context == AllocationContext::task && !profile.cgroups.contains(drawn.cgroup))
      profile.cgroups[drawn.cgroup] = cgroup_text(drawn);
    profile.groups.push_back(std::move(drawn));
  }
  return profile;
}

}  // namespace kmt
