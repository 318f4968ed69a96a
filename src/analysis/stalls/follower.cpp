// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/stalls/follower.hpp"

#include <algorithm>
#include <iterator>

#include "trace/kernel_release.hpp"

namespace kmt {

namespace {

constexpr std::uint32_t kMovable = 0x08;  // __GFP_MOVABLE in all kernels (include/linux/gfp_types.h)

constexpr std::size_t kMostTimes = 4096;  // of one wait; even

std::size_t index_of(StallKind kind) { return static_cast<std::size_t>(kind); }

bool has_order(StallKind kind) {
  return kind == StallKind::direct_reclaim || kind == StallKind::node_reclaim || kind == StallKind::compaction;
}

// Returns 0 if time goes backwards in a damaged trace.
std::uint64_t elapsed_ns(std::uint64_t from_ns, std::uint64_t to_ns) { return to_ns > from_ns ? to_ns - from_ns : 0; }

void add_stall(StallSums& sums, std::uint64_t total_ns, std::uint64_t own_ns, std::uint64_t reclaimed) {
  ++sums.stalls;
  sums.total_ns += total_ns;
  sums.own_ns += own_ns;
  sums.longest_ns = std::max(sums.longest_ns, total_ns);
  sums.reclaimed_pages += reclaimed;
}

// True if compact_stall includes requests that only skip zones. Linux 6.12 counts such requests, and Linux 7.2 does not
// (__alloc_pages_direct_compact() in mm/page_alloc.c). The versions between them were not checked, and are treated like
// 6.12.
bool counts_deferred(std::string_view release) {
  return version_of(release).value_or(KernelVersion{}) < KernelVersion{7, 2};
}

// Adds the time of an outermost stall. If there are many times, joins each two of them, so that a wait needs bounded
// memory. A joined time begins with the first one and is as long as both.
void add_time(FollowedWait& wait, std::uint64_t from_ns, std::uint64_t to_ns) {
  auto& times = wait.times_ns;
  if (times.size() >= kMostTimes) {
    for (std::size_t i = 0; i + 1 < times.size(); i += 2)
      times[i / 2] = {times[i].first, times[i].second + (times[i + 1].second - times[i + 1].first)};
    times.resize(times.size() / 2);
  }
  times.emplace_back(from_ns, to_ns);
}

}  // namespace

// Adds the losses whose end is known to the times with losses. The others stay in open_losses_.
void StallFollower::add_ended_losses() {
  const std::vector<LostEvents>& losses = info_.losses.intervals;
  for (; known_losses_ < losses.size(); ++known_losses_) open_losses_.push_back(known_losses_);
  std::erase_if(open_losses_, [&](std::size_t loss) {
    if (losses[loss].after_ns == 0) return false;
    std::uint64_t from = losses[loss].before_ns;
    std::uint64_t to = losses[loss].after_ns;
    auto next = loss_times_ns_.upper_bound(from);
    if (next != loss_times_ns_.begin() && std::prev(next)->second >= from) --next;
    while (next != loss_times_ns_.end() && next->first <= to) {
      from = std::min(from, next->first);
      to = std::max(to, next->second);
      next = loss_times_ns_.erase(next);
    }
    loss_times_ns_.emplace(from, to);
    return true;
  });
}

// True if events of any CPU were lost in this time. The task may have run on each of them.
bool StallFollower::may_lack_events(std::uint64_t from_ns, std::uint64_t to_ns) {
  add_ended_losses();
  if (std::ranges::any_of(open_losses_,
                          [&](std::size_t loss) { return info_.losses.intervals[loss].before_ns < to_ns; }))
    return true;
  const auto later = loss_times_ns_.lower_bound(to_ns);
  return later != loss_times_ns_.begin() && std::prev(later)->second > from_ns;
}

// True if the address of an object is in the pages. The kernel maps all memory at a multiple of 128 MiB or more, so
// only lower bits of the page frame are compared.
bool StallFollower::lies_in(const Event& object, const Event& pages) const {
  constexpr std::uint64_t kMapped = std::uint64_t{128} << 20;
  const std::uint64_t page_size = info_.machine.page_size;
  if (info_.recording.page_identity != PageIdentity::frame || page_size == 0 || pages.address == kNoPage) return false;
  const std::uint64_t offset = (object.address - pages.address * page_size) % kMapped;
  return offset < page_size << std::min<unsigned>(pages.order, 20);
}

bool StallFollower::is_worker(const Event& event) const {
  const std::string_view name = task_name(tasks_in_trace_, event.tid, event.time_ns);
  return name.starts_with("kswapd") || name.starts_with("kcompactd");
}

void StallFollower::add(const Event& event) {
  last_ns_ = std::max(last_ns_, event.time_ns);
  const bool allocates = is_slab_alloc(event.kind) || event.kind == EventKind::page_alloc;
  has_pages_ = has_pages_ || event.kind == EventKind::page_alloc;
  if ((!allocates && !is_stall(event.kind)) || interrupt_level(event) != 0) return;
  if (allocates) {
    if ((event.page_flags & BulkFlags::kSameRecord) != 0) return;
    if (const auto task = tasks_.find(event.tid); task != tasks_.end()) see_allocation(task->second, event);
    if (event.kind == EventKind::page_alloc && (event.gfp_flags & kMovable) != 0)
      movable_.insert_or_assign(event.tid, event);
    else
      movable_.erase(event.tid);
    return;
  }
  const auto [found, is_new] = tasks_.try_emplace(event.tid);
  Task& task = found->second;
  const StallKind kind = stall_kind(event);
  if (kind == StallKind::kswapd || kind == StallKind::kcompactd) return work(task, event);
  if (is_new) task.is_worker = is_worker(event);
  if (event.kind == EventKind::stall_mark) return mark(task, event);
  if (event.kind == EventKind::stall_begin) return begin(task, event);
  end(task, event);
}

void StallFollower::work(Task& task, const Event& event) {
  task.is_worker = true;
  FollowedWorker& worker = workers_[event.tid];
  worker.node = event.node;
  if (event.kind == EventKind::stall_begin) {
    ++worker.wakeups;
    if (!task.awake_since_ns) task.awake_since_ns = event.time_ns;
    return;
  }
  // kcompactd reports its sleep again every half second, without a wakeup in between.
  if (task.awake_since_ns) worker.awake_ns += elapsed_ns(*task.awake_since_ns, event.time_ns);
  task.awake_since_ns.reset();
}

void StallFollower::begin(Task& task, const Event& event) {
  const StallKind kind = stall_kind(event);
  if (kind == StallKind::direct_reclaim) end_request(task, false);
  if (kind == StallKind::compaction) start_compaction(task);
  // A stall never contains another one of its kind, so the end of the first one was lost.
  if (std::ranges::any_of(task.open, [kind](const OpenStall& stall) { return stall.kind == kind; })) {
    leave(task, event.time_ns);
    task.open.clear();
    if (task.wait) {
      task.wait->is_uncertain = true;
      complete(task);
    }
  }
  if (task.open.empty() && !task.is_worker) {
    start_wait(task, event);
    if (waiting_++ == 0) waiting_since_ns_ = event.time_ns;
  }
  task.open.push_back({kind, event.time_ns, 0});
}

// Starts a wait, or continues the task's last one.
void StallFollower::start_wait(Task& task, const Event& event) {
  const StallKind kind = stall_kind(event);
  const bool of_request = kind == StallKind::compaction && task.request && task.state == Request::compacted;
  const Event& asked = of_request ? *task.request : event;
  const bool knows_order = has_order(kind) && (of_request || kind != StallKind::compaction);
  const auto movable = kind == StallKind::cgroup_reclaim ? movable_.find(event.tid) : movable_.end();
  const Event* const charged = movable == movable_.end() ? nullptr : &movable->second;
  if (task.wait) {
    const FollowedWait& last = *task.wait;
    const bool is_same_order = knows_order ? last.order == asked.order : !last.order;
    const bool is_same_memory = last.pages ? charged != nullptr && charged->time_ns == last.pages->time_ns : has_pages_;
    if (is_same_order && is_same_memory && last.gfp_flags == asked.gfp_flags) return;
    complete(task);
  }
  FollowedWait& wait = task.wait.emplace();
  wait.begin = event;
  wait.gfp_flags = asked.gfp_flags;
  if (knows_order) wait.order = asked.order;
  if (charged != nullptr) wait.pages = *charged;
}

// Ends the time in which a task waits.
void StallFollower::leave(const Task& task, std::uint64_t time_ns) {
  if (!task.is_worker && waiting_ > 0 && --waiting_ == 0) waiting_ns_ += elapsed_ns(waiting_since_ns_, time_ns);
}

void StallFollower::end(Task& task, const Event& event) {
  const StallKind kind = stall_kind(event);
  if (std::ranges::none_of(task.open, [kind](const OpenStall& stall) { return stall.kind == kind; })) {
    ++unmatched_ends_;
    return;
  }
  // The ends of inner stalls were lost.
  while (task.open.back().kind != kind) {
    if (task.wait) task.wait->is_uncertain = true;
    task.open.pop_back();
  }
  close(task, event);
}

// Ends the innermost stall of a task.
void StallFollower::close(Task& task, const Event& event) {
  const OpenStall stall = task.open.back();
  task.open.pop_back();
  const std::uint64_t total_ns = elapsed_ns(stall.began_ns, event.time_ns);
  const std::uint64_t own_ns = elapsed_ns(stall.inner_ns, total_ns);
  if (!task.open.empty()) task.open.back().inner_ns += total_ns;
  if (task.is_worker) {
    if (stall.kind == StallKind::compaction) workers_[event.tid].compaction_ns += total_ns;
    return;
  }
  if (!task.wait) return;
  FollowedWait& wait = *task.wait;
  wait.is_uncertain = wait.is_uncertain || may_lack_events(stall.began_ns, event.time_ns);
  add_stall(wait.kinds[index_of(stall.kind)], total_ns, own_ns, reclaimed_pages(event));
  if (!task.open.empty()) return;
  leave(task, event.time_ns);
  wait.waited_ns += total_ns;
  add_time(wait, stall.began_ns, stall.began_ns + total_ns);
  wait.reclaimed_pages += reclaimed_pages(event);
}

void StallFollower::mark(Task& task, const Event& event) {
  switch (stall_kind(event)) {
    case StallKind::compaction_request:
      end_request(task, false);
      task.request = event;
      task.state = Request::asked;
      return;
    case StallKind::compaction_deferred:
      if (counts_deferred(info_.machine.kernel)) start_compaction(task);
      return;
    case StallKind::throttled: break;
    default: return;
  }
  std::uint64_t slept_ns = waited_ns(event);
  if (task.is_worker) {
    workers_[event.tid].throttled_ns += slept_ns;
    return;
  }
  if (task.open.empty()) {
    start_wait(task, event);
    task.wait->waited_ns += slept_ns;
    add_time(*task.wait, elapsed_ns(slept_ns, event.time_ns), event.time_ns);
  } else {
    // The kernel rounds the time to its timer ticks, so it may be longer than the stall.
    OpenStall& stall = task.open.back();
    slept_ns = std::min(slept_ns, elapsed_ns(stall.began_ns + stall.inner_ns, event.time_ns));
    stall.inner_ns += slept_ns;
  }
  add_stall(task.wait->kinds[index_of(StallKind::throttled)], slept_ns, slept_ns, 0);
}

// Handles an event that shows that a compaction request counts in compact_stall.
void StallFollower::start_compaction(Task& task) {
  if (task.state != Request::asked) return;
  task.state = Request::compacted;
  compacted_(*task.request, Compaction::started);
}

// Handles an event that shows whether a compaction gave the task its memory.
void StallFollower::end_request(Task& task, bool succeeded) {
  if (has_pages_ && task.state == Request::compacted && !succeeded) compacted_(*task.request, Compaction::failed);
  task.state = Request::none;
}

void StallFollower::see_allocation(Task& task, const Event& event) {
  if (!task.open.empty()) return;  // an allocation by reclaim itself
  const bool of_pages = event.kind == EventKind::page_alloc;
  if (task.request && of_pages && task.request->order == event.order) end_request(task, event.address != kNoPage);
  if (!task.wait) return;
  FollowedWait& wait = *task.wait;
  if (wait.pages) {
    if (!of_pages && lies_in(event, *wait.pages)) wait.object = event;
    return complete(task);
  }
  if (of_pages && (!wait.order || wait.order == event.order)) {
    wait.pages = event;
    return;
  }
  // Cgroup reclaim charges an object that has already been allocated. Its event follows.
  const bool is_uncharged =
      (event.page_flags & AccountFlags::kKnown) != 0 && (event.page_flags & AccountFlags::kCharged) == 0;
  if (!of_pages && !wait.order && !is_uncharged) wait.object = event;
  complete(task);
}

void StallFollower::complete(Task& task) {
  waited_(*task.wait);
  task.wait.reset();
}

void StallFollower::finish() {
  for (auto& [tid, task] : tasks_) {
    if (task.awake_since_ns) workers_[tid].awake_ns += elapsed_ns(*task.awake_since_ns, last_ns_);
    if (task.wait && !task.open.empty()) task.wait->is_unfinished = true;
    Event last{};
    last.time_ns = last_ns_;
    last.tid = tid;
    while (!task.open.empty()) close(task, last);
    if (task.wait) complete(task);
  }
}

Scanner StallFollower::scanner_of(const Event& event) const {
  const auto task = tasks_.find(event.tid);
  if (task == tasks_.end()) return Scanner::other;
  for (auto stall = task->second.open.rbegin(); stall != task->second.open.rend(); ++stall) switch (stall->kind) {
      case StallKind::direct_reclaim: return Scanner::direct_reclaim;
      case StallKind::cgroup_reclaim: return Scanner::cgroup_reclaim;
      case StallKind::node_reclaim: return Scanner::node_reclaim;
      default: break;
    }
  return task->second.is_worker ? Scanner::kswapd : Scanner::other;
}

}  // namespace kmt
