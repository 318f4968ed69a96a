// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps the slab objects of a trace in memory, so that they can be replayed several times after one pass over the
// trace. An entry needs 16 bytes for the start or the end of an object, and at most 8 bytes more for its address. The
// log has at most 16,777,216 entries (256 MiB, with addresses 384 MiB). If a trace has more, or has values that do not
// fit into an entry, the caller must read the trace again.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/matching/object_stream.hpp"

namespace kmt {

class ObjectLog {
 public:
  static constexpr std::size_t kMostEntries = std::size_t{1} << 24;

  // `with_addresses`: true if a replay needs the addresses of objects.
  explicit ObjectLog(bool with_addresses, std::size_t most_entries = kMostEntries)
      : with_addresses_(with_addresses), most_entries_(most_entries) {}

  // The same functions as in ObjectSink, except that ended() also needs the kind of the object.
  void kind(const ObjectKind& kind) { kinds_.push_back({kind, {}}); }
  void began(std::uint32_t object, std::uint32_t kind, const Event& event, bool again) {
    add(again ? What::began_again : What::began, object, kind, event);
  }
  void ended(std::uint32_t object, std::uint32_t kind, const Event& event, bool freed) {
    if (freed && event.cache.value != 0) count_free(kind, event.cache);
    add(freed ? What::freed : What::replaced, object, kind, event);
  }
  void freed_older(const Event& event) { add(What::freed_older, 0, event.cache.value, event); }
  void end(const EventSpan& span) { span_ = span; }

  // Passes what free events show about the names of caches to `caches`, which must belong to the trace of the log.
  void teach(CacheNames& caches) const;
  // False if the log does not contain all objects. It then contains none.
  bool is_whole() const { return is_whole_; }
  // Passes the objects to `sink`, with the names of `caches`. The events only have a time, an address, a cache, a CPU
  // and a node.
  void replay(ObjectSink& sink, const CacheNames& caches) const;
  const EventSpan& span() const { return span_; }

 private:
  enum class What : std::uint8_t { began, began_again, freed, replaced, freed_older };
  struct Entry {
    std::uint64_t offset_ns : 48;  // time since the first entry
    std::uint64_t cpu : 16;
    std::uint64_t object : 32;
    std::uint64_t kind : 20;  // number of the kind; for freed_older, the CacheId
    std::uint64_t node : 9;   // requested node + 1
    std::uint64_t what : 3;
  };
  static_assert(sizeof(Entry) == 16);
  static constexpr std::size_t kChunk = std::size_t{1} << 16;  // entries
  struct Kind {
    ObjectKind kind;
    std::pair<std::uint32_t, std::uint64_t*> recent_free;  // cache, and its count in frees_
  };

  void add(What what, std::uint32_t object, std::uint32_t kind, const Event& event) {
    if (!is_whole_) return;
    if (entries_ == 0) start_ns_ = event.time_ns;
    const std::uint64_t offset_ns = event.time_ns - start_ns_;
    const auto node = static_cast<std::uint32_t>(event.node + 1);
    constexpr std::uint64_t kMostOffset = (std::uint64_t{1} << 48) - 1;
    constexpr std::uint32_t kMostKind = (1u << 20) - 1;
    constexpr std::uint32_t kMostNode = (1u << 9) - 1;
    if (entries_ == most_entries_ || offset_ns > kMostOffset || kind > kMostKind || node > kMostNode) return give_up();
    if (entries_++ % kChunk == 0) chunks_.emplace_back().reserve(kChunk);
    chunks_.back().push_back({offset_ns & kMostOffset, event.cpu, object, kind & kMostKind, node & kMostNode,
                              static_cast<std::uint8_t>(what) & 7u});
    if (with_addresses_ && has_address(what)) addresses_.push_back(event.address);
  }
  static bool has_address(What what) { return what != What::freed && what != What::replaced; }
  void give_up();
  void count_free(std::uint32_t kind, CacheId cache) {
    auto& [recent, count] = kinds_[kind].recent_free;
    if (count == nullptr || recent != cache.value) {
      recent = cache.value;
      count = &frees_[{kind, cache.value}];
    }
    ++*count;
  }

  bool with_addresses_;
  std::size_t most_entries_;
  bool is_whole_ = true;
  std::uint64_t start_ns_ = 0;
  std::size_t entries_ = 0;
  std::vector<std::vector<Entry>> chunks_;  // each has kChunk entries, except the last one
  std::vector<std::uint64_t> addresses_;    // of the entries that have an address
  std::vector<Kind> kinds_{1};              // index: number of the kind; 0 is unused
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> frees_;  // by kind and CacheId
  EventSpan span_;
};

}  // namespace kmt
