// SPDX-License-Identifier: GPL-2.0-or-later
// Collects data about growth for the ledger, if an analysis requests it: a time series for each group, and whether its
// frees are traced. A series uses at most 12 KiB, and has a lower resolution if there are many groups.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/matching/grouping.hpp"
#include "analysis/matching/matching.hpp"
#include "analysis/matching/missing_frees.hpp"
#include "analysis/report/cpu_page_lists.hpp"
#include "analysis/report/older_frees.hpp"
#include "analysis/series/time_series.hpp"
#include "results/report/history.hpp"

namespace kmt {

class History {
 public:
  // Counts of allocations with one origin.
  struct Reuse {
    std::uint64_t allocations = 0;
    std::uint64_t ended = 0;
    // Number of objects that looked live when their address was allocated again; included in `ended`.
    std::uint64_t reallocated = 0;
    std::uint64_t last_reallocated_began = 0;  // allocation time in nanoseconds of the newest object counted in
                                               // `reallocated`
    std::uint32_t cache = 0;                   // CacheId in a free event of an object with this origin
  };

  History(std::uint64_t page_size, CpuPageLists cpu_lists) : page_size_(page_size), cpu_lists_(cpu_lists) {}

  // Advances to an event. Call this for each event before the functions below.
  void see(const Event& event);
  void began(std::uint32_t number, const Origin& origin);
  // Counts memory that is freed or replaced. `whole` is true if nothing of the allocation remains after this event.
  void ended(std::uint32_t number, const Origin& origin, std::uint64_t bytes, bool whole);
  void freed(std::uint32_t number, CacheId cache) {
    if (cache.value != 0) reuse_of(number).cache = cache.value;
  }
  // Counts a free of a slab object that was allocated before the trace.
  void freed_older(const Event& event) { older_frees_.add(event.call_site, event.cache, now_); }
  void reallocated(std::uint32_t number, std::uint64_t began_ns);
  // Sets the end of the recording, so that all series extend to `time_ns`.
  void end(std::uint64_t time_ns) {
    if (clock_) clock_->bucket_of(time_ns);
  }
  const std::optional<TimeBuckets>& clock() const { return clock_; }  // empty if there are no events
  const TimeSeries& of_group(std::uint32_t group) const { return of_group_[group]; }
  const TimeSeries& of_allocator(Allocator allocator) const {
    return of_allocator_[static_cast<std::size_t>(allocator)];
  }
  const TimeSeries& reclaimable_slab() const { return reclaimable_slab_; }
  const TimeSeries& page_backed_slab() const { return page_backed_slab_; }  // memory of large kmallocs
  const TimeSeries& page_frames() const { return page_frames_; }
  // Returns the number of pages taken from the free lists of the zones minus the number of pages returned to them. Null
  // if the trace has no such events.
  const TimeSeries* taken_from_zones() const { return sees_zones_ ? &taken_from_zones_ : nullptr; }
  const std::vector<Reuse>& reuse() const { return reuse_; }  // index: origin; origins at the end may be missing
  const FreeCounts& frees() const { return frees_; }
  const OlderFrees& older_frees() const { return older_frees_; }

 private:
  void add_group(std::uint32_t group);
  void see_pages(const Event& event);
  TimeSeries* account_of(const Origin& origin) {
    if (origin.account == SlabAccount::reclaimable) return &reclaimable_slab_;
    return origin.account == SlabAccount::pages ? &page_backed_slab_ : nullptr;
  }
  Reuse& reuse_of(std::uint32_t number) {
    if (reuse_.size() <= number) reuse_.resize(number + std::size_t{1});
    return reuse_[number];
  }

  std::optional<TimeBuckets> clock_;
  std::uint64_t now_ns_ = 0;
  TimeBucket now_;
  std::uint32_t most_buckets_ = TimeBuckets::kMostBuckets;
  std::vector<TimeSeries> of_group_;
  std::array<TimeSeries, kAllocators> of_allocator_;
  std::uint64_t page_size_;
  CpuPageLists cpu_lists_;
  TimeSeries reclaimable_slab_;
  TimeSeries page_backed_slab_;
  TimeSeries page_frames_;
  TimeSeries taken_from_zones_;
  bool sees_zones_ = false;
  std::vector<Reuse> reuse_;
  FreeCounts frees_{};
  OlderFrees older_frees_;
};

// The data from which histories of groups are computed.
struct HistorySources {
  const History& history;
  const Matching& matching;
  const std::vector<Origin>& origins;
  const TraceInfo& info;
  const SymbolNames& symbols;
  const Grouping& grouping;
  bool judges_reclaimable = false;  // true: reclaimable memory is tested for growth like other memory
};

// Returns the history of each group. The pointer is null for groups that are not in `followed`.
std::vector<SharedHistory> histories_of_groups(const HistorySources& sources, std::size_t groups,
                                               const std::vector<std::uint32_t>& followed, Histories& common);

}  // namespace kmt
