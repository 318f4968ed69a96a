// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/time_merge.hpp"

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
  std::sort(heap_.begin(), heap_.end(), before);  // a sorted array is a heap
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
  batch.clear();
  while (batch.size() < kBatchEvents && !heap_.empty()) {
    Head& first = heap_.front();
    Cursor& cursor = cursors_[first.stream];
    // The head that comes after the first one bounds how many events can be taken in a row.
    const Head* second = heap_.size() > 1 ? &heap_[1] : nullptr;
    if (heap_.size() > 2 && before(heap_[2], heap_[1])) second = &heap_[2];

    bool exhausted = false;
    do {
      batch.push_back(cursor.events[cursor.next]);
      if (++cursor.next == cursor.events.size()) exhausted = !refill(cursor);
      if (!exhausted) first.time_ns = std::max(first.time_ns, cursor.events[cursor.next].time_ns);
    } while (!exhausted && batch.size() < kBatchEvents && (second == nullptr || before(first, *second)));

    if (exhausted) {
      cursor = {};  // a trace of many CPUs must not keep them all
      first = heap_.back();
      heap_.pop_back();
    }
    sift_down();
  }
  return !batch.empty();
}

}  // namespace kmt
