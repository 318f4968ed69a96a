// SPDX-License-Identifier: GPL-2.0-or-later
// Follows the lifetimes of slab objects. Each live object has a small number that is reused after its free. A table of
// objects therefore needs only as many entries as objects were live at the same time.
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

// Properties that objects of one kind share: their Origin and the name of their cache ("" if unknown).
struct ObjectKind {
  Origin origin;
  std::string cache;
};

// A clock that counts nanoseconds since the first object event. It never goes backwards, even if the times in a damaged
// trace do.
class ObjectClock {
 public:
  std::uint64_t at(std::uint64_t time_ns) {
    if (!start_ns_) start_ns_ = time_ns;
    if (time_ns > *start_ns_) now_ns_ = std::max(now_ns_, time_ns - *start_ns_);
    return now_ns_;
  }
  // Advances the clock to the last event of the trace, of any kind. The clock stays at 0 if the trace has no objects.
  std::uint64_t end(std::uint64_t last_ns) { return start_ns_ ? at(last_ns) : now_ns_; }
  std::uint64_t now() const { return now_ns_; }
  // Returns the time of the first object event on the trace's clock.
  std::uint64_t start_ns() const { return start_ns_.value_or(0); }

 private:
  std::optional<std::uint64_t> start_ns_;
  std::uint64_t now_ns_ = 0;
};

class ObjectSink {
 public:
  virtual ~ObjectSink() = default;
  // Called once for each kind of object, before its first object. Kinds are numbered from 1.
  virtual void kind(const ObjectKind& kind) = 0;
  // Called when an object is allocated. If `again` is true, the event is a duplicate: the object that has just ended is
  // allocated a second time.
  virtual void began(std::uint32_t object, std::uint32_t kind, const Event& event, bool again) = 0;
  // Called when an object ends. `freed` is false if no free was seen and the address was allocated again.
  virtual void ended(std::uint32_t object, const Event& event, bool freed) = 0;
  // Called for a free of an object from before the trace, or of an object whose allocation was not traced.
  virtual void freed_older(const Event& event) = 0;
};

class ObjectStream {
 public:
  // All arguments must outlive the stream. The tables of `info` may grow between batches.
  ObjectStream(const TraceInfo& info, const SymbolNames& symbols, CacheNames& caches, ObjectSink& sink);
  ~ObjectStream();

  // Adds events. Throws Error if there are more live objects than object numbers.
  void add(EventBatch& batch);
  const EventSpan& span() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
