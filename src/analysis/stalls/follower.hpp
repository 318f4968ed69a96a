// SPDX-License-Identifier: GPL-2.0-or-later
// Follows the stalls of every task, and finds the allocation for which a task waited.
//
// Stalls nest: a task may be throttled during reclaim. Stalls of a task without an allocation between them belong to
// one wait, if the trace has allocations of pages and the stalls have the same order and GFP flags.
//
// - Reclaim and compaction come before the allocation, so the memory is the task's next allocation of this order.
// - Cgroup reclaim comes before the event of a slab object. It comes after an allocation of movable pages, because the
//   kernel charges these pages afterwards.
// - If the pages become a slab, the next object comes from them. The memory is then this object.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "results/report/stalls.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

struct StallSums {
  std::uint64_t stalls = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t own_ns = 0;
  std::uint64_t longest_ns = 0;
  std::uint64_t reclaimed_pages = 0;
};

// A wait as it is followed.
struct FollowedWait {
  Event begin{};                      // the first event of the wait
  std::optional<std::uint8_t> order;  // empty: only cgroup reclaim
  std::uint32_t gfp_flags = 0;
  std::uint64_t waited_ns = 0;
  std::uint64_t reclaimed_pages = 0;  // by outermost stalls
  // Begin and end of each outermost stall. If there are thousands, neighbours are joined; the sum remains waited_ns.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> times_ns;
  std::array<StallSums, kWaitKinds> kinds{};
  bool is_uncertain = false;    // true: events may be missing
  bool is_unfinished = false;   // true: the trace ends before the wait
  std::optional<Event> pages;   // the awaited allocation of pages
  std::optional<Event> object;  // the awaited slab object
};

// Work of kswapd and kcompactd.
struct FollowedWorker {
  std::int16_t node = kNoNode;
  std::uint64_t wakeups = 0;
  std::uint64_t awake_ns = 0;
  std::uint64_t compaction_ns = 0;
  std::uint64_t throttled_ns = 0;
};

class StallFollower {
 public:
  using Waited = std::function<void(const FollowedWait&)>;
  enum class Compaction : std::uint8_t { started, failed };
  using Compacted = std::function<void(const Event& request, Compaction what)>;

  // `info` and `tasks` must outlive this object. `waited` is called for each wait when it is complete. `compacted` is
  // called with Compaction::started when a compaction request compacts or skips its first zone, and with
  // Compaction::failed if no allocation follows.
  StallFollower(const TraceInfo& info, const TraceTasks& tasks, Waited waited, Compacted compacted)
      : info_(info), tasks_in_trace_(tasks), waited_(std::move(waited)), compacted_(std::move(compacted)) {}

  // Call this for each event of the trace, in order of time.
  void add(const Event& event);
  void finish();

  // Returns what scans pages now: the innermost stall of the task.
  Scanner scanner_of(const Event& event) const;
  // Time during which at least one task waited. Too large if the end of a stall is missing.
  std::uint64_t waiting_ns() const { return waiting_ns_; }
  // Number of ends without a begin.
  std::uint64_t unmatched_ends() const { return unmatched_ends_; }
  const std::map<std::int32_t, FollowedWorker>& workers() const { return workers_; }

 private:
  struct OpenStall {
    StallKind kind = {};
    std::uint64_t began_ns = 0;
    std::uint64_t inner_ns = 0;  // time in nested stalls
  };
  enum class Request : std::uint8_t { none, asked, compacted };
  struct Task {
    std::vector<OpenStall> open;  // innermost last
    std::optional<FollowedWait> wait;
    std::optional<Event> request;  // the last compaction request
    Request state = Request::none;
    bool is_worker = false;  // kswapd or kcompactd
    std::optional<std::uint64_t> awake_since_ns;
  };

  void begin(Task& task, const Event& event);
  void end(Task& task, const Event& event);
  void close(Task& task, const Event& event);
  void mark(Task& task, const Event& event);
  void work(Task& task, const Event& event);
  void see_allocation(Task& task, const Event& event);
  void end_request(Task& task, bool succeeded);
  void start_wait(Task& task, const Event& event);
  void leave(const Task& task, std::uint64_t time_ns);
  void complete(Task& task);
  void start_compaction(Task& task);
  void add_ended_losses();
  bool may_lack_events(std::uint64_t from_ns, std::uint64_t to_ns);
  bool lies_in(const Event& object, const Event& pages) const;
  bool is_worker(const Event& event) const;

  const TraceInfo& info_;
  const TraceTasks& tasks_in_trace_;
  Waited waited_;
  Compacted compacted_;
  std::map<std::int32_t, Task> tasks_;
  std::map<std::int32_t, FollowedWorker> workers_;
  std::map<std::int32_t, Event> movable_;  // by task: the last allocation, if it has movable pages
  bool has_pages_ = false;                 // true: the trace has allocations of pages
  std::uint64_t last_ns_ = 0;
  std::uint64_t waiting_ = 0;  // number of tasks that wait now
  std::uint64_t waiting_since_ns_ = 0;
  std::uint64_t waiting_ns_ = 0;
  std::uint64_t unmatched_ends_ = 0;
  std::size_t known_losses_ = 0;                          // number of intervals that are in the next two members
  std::vector<std::size_t> open_losses_;                  // intervals whose end is still unknown
  std::map<std::uint64_t, std::uint64_t> loss_times_ns_;  // start and end of times with losses; they do not overlap
};

}  // namespace kmt
