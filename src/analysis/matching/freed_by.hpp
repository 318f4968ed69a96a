// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which functions may free an object, depending on the kernel version. Also detects objects of the recorder.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "trace/event.hpp"
#include "trace/note_lines.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// True if kfree() accepts objects of any slab cache. This is the case since Linux 6.4, except with SLOB. Unknown
// releases count as new to avoid false positives.
bool kfree_takes_cache_objects(const std::string& release);

// True if kmem_cache_free() frees a kmalloc object, or if kfree() frees a cache's object although the kernel does not
// allow it.
inline bool freed_by_wrong_family(bool from_cache, const Event& free, bool cache_object_may_be_kfreed) {
  if (free.kind == EventKind::cache_free) return !from_cache;
  // Bulk frees and frees after an RCU grace period accept objects of any cache.
  if (free.kind != EventKind::kfree) return false;
  return from_cache && !cache_object_may_be_kfreed;
}

// True if the cache in a free event differs from the cache in the allocation event. Compares the IDs of the cache
// names; 0 means that the event does not name the cache.
inline bool freed_to_wrong_cache(std::uint32_t allocated_from, const Event& free) {
  return allocated_from != 0 && free.cache.value != 0 && allocated_from != free.cache.value;
}

// Detects objects of the recorder. A recording excludes the recorder's allocations. It includes the recorder's frees,
// because the recorder may free objects that other tasks allocated. If a task of the recorder frees an object twice, it
// must have allocated this object again between the frees.
class RecorderTasks {
 public:
  RecorderTasks() = default;
  explicit RecorderTasks(const TraceInfo& info) : tasks_(ids_in_note(info.recording.notes, "recorder_tasks")) {}
  bool freed_own(const Event& free_again) const {
    return interrupt_level(free_again) == 0 && tasks_.contains(free_again.tid);
  }

 private:
  std::set<std::int32_t> tasks_;
};

}  // namespace kmt
