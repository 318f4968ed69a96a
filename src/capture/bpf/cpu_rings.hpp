// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the rings that BPF programs (records.h) fill on one CPU. Returns entries in order of time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "capture/bpf/programs/records.h"

namespace kmt {

class CpuRings {
 public:
  // `bytes` is the size of each ring, a power of two. The rings must outlive this object.
  CpuRings(const std::vector<kmt_ring*>& rings, std::uint64_t bytes) { add(rings, bytes); }
  void add(const std::vector<kmt_ring*>& rings, std::uint64_t bytes);  // must be called before take()

  using Give = std::function<void(const kmt_entry& entry, const std::uint64_t* words)>;

  // Passes on the entries that were complete at the previous call. No entry with an earlier time can appear any more.
  // Then reads the positions of the rings again. Call it every few milliseconds with the current time of the programs'
  // clock. Entries are valid until `give` returns. Throws Error if a ring has an invalid entry.
  void take(std::uint64_t now_ns, const Give& give);
  // Passes on the remaining entries. Call it after the last program has ended.
  void take_rest(const Give& give);

  // Returns the filled fraction of the fullest ring at the last take().
  double filled() const { return filled_; }
  std::uint64_t bytes() const;      // bytes of all entries since the start; may be called from any thread
  std::uint64_t lost() const;       // lost entries since the start; may be called from any thread
  std::uint64_t not_taken() const;  // bytes still in the rings; call it when no program runs and no reader reads

 private:
  struct Ring {
    kmt_ring* shared;
    std::uint64_t bytes;
    std::uint64_t tail = 0;   // end of the entries passed on so far
    std::uint64_t ready = 0;  // value of `seen` at the previous call; entries before it can be passed on
    std::uint64_t seen = 0;   // head of the ring when its positions were read last
    // true: a program was still writing the entry at `ready`, so the time of this entry was unknown
    bool ready_is_begun = false;
    bool seen_is_begun = false;
    std::uint64_t time_ns = 0;  // time of the entry at the tail
  };

  void look(std::uint64_t now_ns);
  void give_ready(const Give& give);
  static const kmt_entry& entry_at(const Ring& ring, std::uint64_t position);
  static std::uint64_t size_of(const kmt_entry& entry);

  std::vector<Ring> rings_;
  std::uint64_t ready_before_ns_ = 0;
  std::uint64_t seen_before_ns_ = 0;
  double filled_ = 0;
};

}  // namespace kmt
