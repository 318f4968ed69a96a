// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/time_merge.hpp"

#include <algorithm>
#include <utility>

namespace kmt {

namespace {
constexpr std::size_t kBatchEvents = 1024;
}

TimeMerge::TimeMerge(std::vector<std::unique_ptr<CpuStream>> streams) {
  for (std::unique_ptr<CpuStream>& stream : streams) {
    Cursor& cursor = cursors_.emplace_back(Cursor{std::move(stream), {}, 0});
    if (refill(cursor))
      heap_.push_back({cursor.events.front().time_ns, cursors_.size() - 1});
    else
      cursor = {};
  }
  std::sort(heap_.begin(), heap_.end(), before);  // a sorted array is a valid heap
}

bool TimeMerge::refill(Cursor& cursor) {
  cursor.next = 0;
  return cursor.stream->read(cursor.events);
}

void TimeMerge::sift_down() {
  std::size_t at = 0;
  for (;;) {
    std::size_t child = 2 * at + 1;
    if (child >= heap_.size()) return;
    if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
    if (!before(heap_[child], heap_[at])) return;
    std::swap(heap_[at], heap_[child]);
    at = child;
  }
}

bool TimeMerge::read(EventBatch& batch) {
  // If the caller passes the batch of the previous call again, it already has this size.
  batch.resize(kBatchEvents);
  std::size_t filled = 0;
  while (filled < kBatchEvents && !heap_.empty()) {
    Head& first = heap_.front();
    Cursor& cursor = cursors_[first.stream];
    // Takes events of the first stream as long as they are not later than the next event of the second stream.
    const Head* second = heap_.size() > 1 ? &heap_[1] : nullptr;
    if (heap_.size() > 2 && before(heap_[2], heap_[1])) second = &heap_[2];

    const Event* event = cursor.events.data() + cursor.next;
    const Event* const last =
        // Last event that may be taken in this step.
        event + std::min(cursor.events.size() - cursor.next, kBatchEvents - filled) - 1;
    batch[filled++] = *event;
    bool in_row = true;
    while (event != last) {
      first.time_ns = std::max(first.time_ns, (++event)->time_ns);
      in_row = second == nullptr || before(first, *second);
      if (!in_row) break;
      batch[filled++] = *event;
    }
    cursor.next = static_cast<std::size_t>(event - cursor.events.data()) + (in_row ? 1 : 0);
    if (cursor.next == cursor.events.size() && !refill(cursor)) {
      cursor = {};  // frees the memory of a finished stream, because there may be hundreds of them
      first = heap_.back();
      heap_.pop_back();
    } else {
      first.time_ns = std::max(first.time_ns, cursor.events[cursor.next].time_ns);
    }
    sift_down();
  }
  batch.resize(filled);
  return filled > 0;
}

}  // namespace kmt
