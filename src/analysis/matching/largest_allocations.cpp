// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/largest_allocations.hpp"

#include "trace/page_block.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include <fmt/format.h>

namespace kmt {

namespace {

// Stands for "no task" where a thread ID is expected; larger than all thread IDs.
constexpr std::int64_t kNoTask = std::int64_t{1} << 32;

std::string who(const StreamedEvent& event) {
  return event.context == "task" ? std::string(event.task) : fmt::format("[{}]", event.context);
}

std::uint64_t end_of(const AllocationSlice& slice) { return std::max(slice.end->time_ns, slice.began_ns); }

// A set of slices of one track that do not overlap, ordered by start time, then by number.
class Lane {
 public:
  bool has_room(const AllocationSlice& slice) const {
    const auto next = slices_.upper_bound({slice.began_ns, slice.number});
    if (next != slices_.end() && next->first.first < end_of(slice)) return false;
    return next == slices_.begin() || std::prev(next)->second <= slice.began_ns;
  }
  void add(const AllocationSlice& slice) { slices_.insert({{slice.began_ns, slice.number}, end_of(slice)}); }

 private:
  // Key: start time and number; value: end time.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> slices_;
};

}  // namespace

std::uint32_t LargestAllocations::track_of(const StreamedEvent& event) {
  const bool of_task = event.context == "task";
  const auto [track, is_new] = tracks_.try_emplace({of_task ? event.event->tid : kNoTask, who(event)},
                                                   static_cast<std::uint32_t>(result_.tracks.size()));
  if (is_new)
    result_.tracks.push_back({of_task ? std::optional(event.event->tid) : std::nullopt, track->first.second, 0});
  return track->second;
}

void LargestAllocations::begin(const StreamedEvent& streamed) {
  ++result_.allocations;
  const Event& event = *streamed.event;
  const bool of_pages = event.kind == EventKind::page_alloc;
  const std::uint64_t bytes = of_pages ? block_bytes(info_, event.order) : event.bytes_allocated;
  const Candidate candidate{bytes, streamed.allocation};
  if (smallest_.size() >= most_) {
    if (most_ == 0 || !(candidate < smallest_.top())) return;
    kept_.erase(smallest_.top().number);
    smallest_.pop();
  }
  smallest_.push(candidate);
  AllocationSlice& slice = kept_[streamed.allocation];
  slice.number = streamed.allocation;
  slice.track = track_of(streamed);
  slice.allocator = allocator_of(event.kind);
  slice.address = event.address;
  slice.bytes_requested = of_pages ? bytes : event.bytes_requested;
  slice.bytes_allocated = bytes;
  slice.began_ns = event.time_ns;
  slice.call_site = info_.tables.call_sites[event.call_site.value];
  const auto words = [](std::span<const std::uint64_t> part) { return std::vector(part.begin(), part.end()); };
  slice.stack = words(info_.tables.stacks[event.stack]);
  slice.user_stack = words(info_.tables.stacks.user(event.stack));
  slice.cache = streamed.cache;
  slice.cpu = event.cpu;
  slice.order = event.order;
}

void LargestAllocations::add(const StreamedEvent& streamed) {
  const Event& event = *streamed.event;
  for (const EndedPart& part : streamed.ended) {
    const auto slice = part.whole ? kept_.find(part.allocation) : kept_.end();
    if (slice != kept_.end())
      slice->second.end = {event.time_ns, streamed.outcome == Outcome::freed, event.cpu,
                           info_.tables.call_sites[event.call_site.value], who(streamed)};
  }
  if (streamed.allocation != 0 && streamed.outcome != Outcome::failed) begin(streamed);
}

// Assigns a lane to each freed allocation. Allocations with the largest product of bytes and lifetime come first. Each
// is put into the first lane in which it overlaps no other allocation.
void LargestAllocations::assign_lanes() {
  std::vector<AllocationSlice*> ended;
  for (AllocationSlice& slice : result_.slices)
    if (slice.end) ended.push_back(&slice);
  const auto weight = [](const AllocationSlice& slice) {
    return static_cast<double>(slice.bytes_allocated) * static_cast<double>(end_of(slice) - slice.began_ns);
  };
  std::ranges::stable_sort(ended,
                           [&](const AllocationSlice* a, const AllocationSlice* b) { return weight(*a) > weight(*b); });
  std::vector<std::vector<Lane>> lanes(result_.tracks.size());
  for (AllocationSlice* const slice : ended) {
    std::vector<Lane>& of_track = lanes[slice->track];
    auto lane = std::ranges::find_if(of_track, [&](const Lane& other) { return other.has_room(*slice); });
    if (lane == of_track.end()) {
      if (of_track.size() == AllocationSlices::kMostLanes) continue;
      lane = of_track.insert(of_track.end(), Lane{});
    }
    slice->lane = static_cast<unsigned>(lane - of_track.begin());
    ++result_.with_lane;
    lane->add(*slice);
  }
  result_.without_room = ended.size() - result_.with_lane;
  for (std::size_t track = 0; track < lanes.size(); ++track)
    result_.tracks[track].lanes = static_cast<unsigned>(lanes[track].size());
}

// Removes tracks without slices. Their tasks had allocations among the largest for a time, but larger ones followed.
void LargestAllocations::keep_tracks_in_use() {
  constexpr auto kUnused = ~std::uint32_t{0};
  std::vector<std::uint32_t> place(result_.tracks.size(), kUnused);
  std::vector<AllocationTrack> used;
  for (AllocationSlice& slice : result_.slices) {
    std::uint32_t& to = place[slice.track];
    if (to == kUnused) {
      to = static_cast<std::uint32_t>(used.size());
      used.push_back(std::move(result_.tracks[slice.track]));
    }
    slice.track = to;
  }
  result_.tracks = std::move(used);
}

void LargestAllocations::end(const StreamEnd& end) {
  result_.complete = end.complete;
  for (auto& [number, slice] : kept_) result_.slices.push_back(std::move(slice));
  std::sort(result_.slices.begin(), result_.slices.end(), [](const AllocationSlice& a, const AllocationSlice& b) {
    return a.began_ns != b.began_ns ? a.began_ns < b.began_ns : a.number < b.number;
  });
  keep_tracks_in_use();
  assign_lanes();
}

}  // namespace kmt
