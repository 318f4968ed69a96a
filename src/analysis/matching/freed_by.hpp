// SPDX-License-Identifier: GPL-2.0-or-later
// Which function may free what, by kernel version; and what the recorder freed.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "trace/event.hpp"
#include "trace/note_lines.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Since Linux 6.4 (without SLOB) kfree() takes objects of any slab cache. An unknown release counts as new: no false
// alarm.
bool kfree_takes_cache_objects(const std::string& release);

// kmem_cache_free of a kmalloc object, or kfree of a cache's object where that is not allowed.
inline bool freed_by_wrong_family(bool from_cache, const Event& free, bool cache_object_may_be_kfreed) {
  if (free.kind == EventKind::cache_free) return !from_cache;
  return from_cache && !cache_object_may_be_kfreed;
}

// To another cache than the one that the allocation names, by the ids of their names; 0: not said.
inline bool freed_to_wrong_cache(std::uint32_t allocated_from, const Event& free) {
  return allocated_from != 0 && free.cache.value != 0 && allocated_from != free.cache.value;
}

// A recording lacks the recorder's allocations but has its frees, since the objects of others are among them. If one of
// its tasks frees an object that was free already, it had allocated that object since.
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
