// SPDX-License-Identifier: GPL-2.0-or-later
// Replays the slab objects of a trace in several heaps at the same time.
#pragma once

#include <string>
#include <vector>

#include "analysis/matching/object_stream.hpp"
#include "analysis/simulation/object_log.hpp"
#include "analysis/simulation/simulated_heap.hpp"

namespace kmt {

class HeapReplay : public ObjectSink {
 public:
  // `info` and `caches` must belong to the pass over the trace that is replayed. All references must outlive this
  // object. `random_caches` is true if kmalloc chooses among several caches by call site.
  HeapReplay(const TraceInfo& info, const SymbolNames& symbols, CacheNames& caches, bool random_caches);
  HeapReplay(const HeapReplay&) = delete;  // the stream keeps a reference to this object
  HeapReplay& operator=(const HeapReplay&) = delete;

  void add_heap(SlabLayout layout, bool keeps_series);  // call before the first batch
  // Replays the trace. Call either add() with all events of the trace, or replay() with a log of its objects.
  void add(EventBatch& batch);
  void replay(const ObjectLog& log);

  const SlabMachine& machine() const { return machine_; }
  const std::vector<HeapSimulation>& heaps() const { return heaps_; }
  bool has_random_caches() const { return random_caches_; }
  const EventSpan& span() const { return span_; }
  std::uint64_t start_ns() const { return clock_.start_ns(); }  // start on the trace's clock
  // Returns the time since start_ns() in nanoseconds. Call this after the last batch.
  std::uint64_t end_ns() { return clock_.end(span_.last_ns); }

 protected:
  void kind(const ObjectKind& given) override;
  void began(std::uint32_t object, std::uint32_t kind, const Event& event, bool again) override;
  void ended(std::uint32_t object, const Event& event, bool freed) override;
  void freed_older(const Event&) override {}

  std::uint32_t kind_of(std::uint32_t object) const { return alive_[object]; }
  std::string symbol_of(const Origin& origin) const;

 private:
  const TraceInfo& info_;
  const SymbolNames& symbols_;
  const bool random_caches_;
  const SlabMachine machine_;
  const CacheNames& caches_;
  ObjectStream stream_;
  EventSpan span_;
  std::vector<HeapSimulation> heaps_;
  std::vector<std::uint8_t> is_simulated_ = {0};  // index: number of the kind; 0: no heap has objects of this kind
  std::vector<std::uint32_t> alive_;              // index: number of a live object; value: number of its kind
  ObjectClock clock_;
};

}  // namespace kmt
