// SPDX-License-Identifier: GPL-2.0-or-later
// Growth over time, which the ledger keeps beside its sums if an analysis asks for it: whether frees are traced, and a
// series for each group. A series takes at most 12 KiB, and is less exact if there are many groups.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/matching/grouping.hpp"
#include "analysis/matching/matching.hpp"
#include "analysis/matching/missing_frees.hpp"
#include "analysis/report/cpu_page_lists.hpp"
#include "analysis/series/time_series.hpp"
#include "results/report/history.hpp"

namespace kmt {

class History {
 public:
  // Counts of an origin, by its number.
  struct Reuse {
    std::uint64_t allocations = 0;
    std::uint64_t ended = 0;
    std::uint64_t reallocated = 0;             // while live; these have ended too
    std::uint64_t last_reallocated_began = 0;  // when the last of them had been allocated
    std::uint32_t cache = 0;                   // CacheId that a free named
  };

  History(std::uint64_t page_size, CpuPageLists cpu_lists) : page_size_(page_size), cpu_lists_(cpu_lists) {}

  // Every event, before what is booked of it.
  void see(const Event& event);
  void began(std::uint32_t number, const Origin& origin);
  // `whole`: the allocation ends with these bytes.
  void ended(std::uint32_t number, const Origin& origin, std::uint64_t bytes, bool whole);
  void freed(std::uint32_t number, CacheId cache) {
    if (cache.value != 0) reuse_of(number).cache = cache.value;
  }
  void reallocated(std::uint32_t number, std::uint64_t began_ns);
  // The recording ended at `time_ns`. Series requested after this call have buckets up to that time.
  void end(std::uint64_t time_ns) {
    if (clock_) clock_->bucket_of(time_ns);
  }
  const std::optional<TimeBuckets>& clock() const { return clock_; }  // empty without events
  const TimeSeries& of_group(std::uint32_t group) const { return of_group_[group]; }
  const TimeSeries& of_allocator(Allocator allocator) const {
    return of_allocator_[static_cast<std::size_t>(allocator)];
  }
  const TimeSeries& reclaimable_slab() const { return reclaimable_slab_; }
  const TimeSeries& page_backed_slab() const { return page_backed_slab_; }  // large kmallocs
  const TimeSeries& page_frames() const { return page_frames_; }
  // Pages that left the zones' lists of free pages less those that came back to them; null where the trace has no
  // events that tell of it.
  const TimeSeries* taken_from_zones() const { return sees_zones_ ? &taken_from_zones_ : nullptr; }
  const std::vector<Reuse>& reuse() const { return reuse_; }  // may be shorter than there are origins
  const FreeCounts& frees() const { return frees_; }

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
};

// The data that finish() needs to make histories.
struct HistorySources {
  const History& history;
  const Matching& matching;
  const std::vector<Origin>& origins;
  const TraceInfo& info;
  const SymbolNames& symbols;
};

// By group: of those that `followed` names; the others are null.
std::vector<SharedHistory> histories_of_groups(const HistorySources& sources, std::size_t groups,
                                               const std::vector<std::uint32_t>& followed, Histories& common);

}  // namespace kmt
