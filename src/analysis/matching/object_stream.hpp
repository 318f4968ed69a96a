// SPDX-License-Identifier: GPL-2.0-or-later
// The lives of slab objects, one after the other: each live object has a small number, which is used again once it is
// freed, so that who follows objects keeps a table of as many entries as were ever live at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "analysis/matching/cache_names.hpp"
#include "analysis/matching/grouping.hpp"
#include "analysis/matching/trace_summary.hpp"

namespace kmt {

// The common properties of objects: an Origin, with its cache's name ("" if unknown).
struct ObjectKind {
  Origin origin;
  std::string cache;
};

// Since the first event of an object, in nanoseconds. A damaged trace's time may go back; this does not.
class ObjectClock {
 public:
  std::uint64_t at(std::uint64_t time_ns) {
    if (!start_ns_) start_ns_ = time_ns;
    if (time_ns > *start_ns_) now_ns_ = std::max(now_ns_, time_ns - *start_ns_);
    return now_ns_;
  }
  // The trace's last event, of whatever kind; nothing passes where there was no object.
  std::uint64_t end(std::uint64_t last_ns) { return start_ns_ ? at(last_ns) : now_ns_; }
  std::uint64_t now() const { return now_ns_; }
  std::uint64_t start_ns() const { return start_ns_.value_or(0); }  // in the trace's time

 private:
  std::optional<std::uint64_t> start_ns_;
  std::uint64_t now_ns_ = 0;
};

class ObjectSink {
 public:
  virtual ~ObjectSink() = default;
  // Kinds are numbered from 1 on, and each comes before its first object.
  virtual void kind(const ObjectKind& kind) = 0;
  // `again`: a duplicate event; the object that just ended was the same.
  virtual void began(std::uint32_t object, std::uint32_t kind, const Event& event, bool again) = 0;
  virtual void ended(std::uint32_t object, const Event& event, bool freed) = 0;  // else its address was given again
  virtual void freed_older(const Event& event) = 0;  // allocated before the trace, or unseen
};

class ObjectStream {
 public:
  // All that is given must outlive the stream; the info's tables may grow between batches.
  ObjectStream(const TraceInfo& info, const SymbolNames& symbols, CacheNames& caches, ObjectSink& sink);
  ~ObjectStream();

  // Throws Error where more objects are live than numbers.
  void add(EventBatch& batch);
  const EventSpan& span() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
