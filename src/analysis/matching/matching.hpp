// SPDX-License-Identifier: GPL-2.0-or-later
// Matches allocations and frees in three steps: `classify`, `match`, and the consumer of the result. The steps can run
// in parallel for successive batches. The units of `match` can run in parallel for one batch, because each unit has its
// own addresses. `classify` must not run while the reader does, because it reads the tables of the trace. Each step
// handles the batches in order, so the result does not depend on the number of threads.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/matching/event_filter.hpp"
#include "analysis/matching/freed_frames.hpp"
#include "analysis/matching/grouping.hpp"
#include "analysis/matching/page_matcher.hpp"
#include "analysis/matching/slab_matcher.hpp"
#include "results/report/event_stream.hpp"

namespace kmt {

struct Step {
  // Time of the allocation that the event frees or replaces. If freed_again is set: time of the previous free.
  std::uint64_t began_ns = 0;
  // Origin of the allocation that begins, fails or is freed; 0: the filter does not select it.
  std::uint32_t origin = 0;
  // For an allocation whose pointer looked live: origin of the previous allocation with this pointer.
  std::uint32_t replaced = 0;
  CallSiteId call_site;  // call site of the previous free; only if freed_again is set
  std::uint16_t began_cpu = 0;
  Outcome outcome = Outcome::unseen;
  bool selected = false;     // true: the filter selects this event
  bool freed_again = false;  // true: a second free of an object or of pages without an allocation in between
};

// Pages of one live allocation that an event frees or replaces.
struct PagesTaken {
  std::uint32_t event = 0;  // index into the batch
  std::uint32_t origin = 0;
  std::uint64_t began_ns = 0;
  std::uint64_t pages = 0;
  std::uint16_t began_cpu = 0;
  std::uint8_t order = 0;
  bool head = false;  // true: the pages include the first page of the allocation
};

// Number of units for slab objects, which are distributed by address. One more unit handles percpu memory, vmap areas
// and pages.
constexpr unsigned kSlabUnits = 4;
constexpr unsigned kUnits = kSlabUnits + 1;

struct MatchedBatch {
  EventBatch events;
  std::vector<Step> steps;                                // one for each event
  std::array<std::vector<std::uint32_t>, kUnits> queues;  // index: unit; value: indices of the unit's events
  std::vector<PagesTaken> pages;                          // in the order of the events
};

// The part of a matched batch that depends on the keys of a report.
struct BatchOrigins {
  std::vector<Origin> new_origins;    // their numbers follow those of earlier batches; the first number is 1
  std::vector<std::uint32_t> freers;  // index: event; value: Grouping::freer_of(); empty if no key needs it
};

class Classifier {
 public:
  Classifier(EventFilter filter, Grouping& grouping) : filter_(std::move(filter)), grouping_(grouping) {}
  void classify(MatchedBatch& batch, BatchOrigins& origins);
  const EventFilter& filter() const { return filter_; }

  // The first and the last step of classify(). In between, classify() passes each event to grouping().
  // begin_batch() returns the result of Grouping::begin_batch().
  bool begin_batch(const EventBatch& events);
  void end_batch(const EventBatch& events, BatchOrigins& origins);
  Grouping& grouping() { return grouping_; }

 private:
  void classify(const Event& event, std::uint32_t index, Step& step, MatchedBatch& batch);

  EventFilter filter_;
  Grouping& grouping_;
  bool begun_ = false;
};

class Matching {
 public:
  Matching(PageIdentity identity, std::uint64_t page_size)
      : page_size_(page_size), frames_(identity), freed_(identity) {}
  void match(MatchedBatch& batch, unsigned unit);

  // Calls visit(allocator, origin, began_ns, pages, head) for each live allocation, in no particular order. `pages` is
  // 1 except for page allocations. `head` is true if the allocation's first page is live.
  template <typename Visit>
  void for_each_live(Visit&& visit) const {
    for (const SlabMatcher& objects : slab_)
      objects.for_each_live([&](std::uint64_t, const SlabObject& object) {
        visit(Allocator::slab, object.origin, object.time_ns, std::uint64_t{1}, true);
      });
    for (const Allocator allocator : {Allocator::percpu, Allocator::vmap})
      others_[static_cast<std::size_t>(allocator)].for_each_live([&](std::uint64_t, const SlabObject& object) {
        visit(allocator, object.origin, object.time_ns, std::uint64_t{1}, true);
      });
    frames_.for_each_live([&](std::uint64_t, const LiveFrames& frames) {
      visit(Allocator::pages, frames.origin, frames.time_ns, frames_.pages_of(frames), frames.head);
    });
  }

 private:
  void match_pointer(const Event& event, Step& step, SlabMatcher& objects) const;
  void match_pages(MatchedBatch& batch, std::uint32_t index);

  std::uint64_t page_size_;
  std::array<SlabMatcher, kSlabUnits> slab_;
  // For percpu memory and vmap areas; the element for slab is unused.
  std::array<SlabMatcher, kPointerAllocators> others_;
  PageMatcher frames_;
  FreedFrames freed_;
};

}  // namespace kmt
