// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the rings that BPF programs fill on one CPU (records.h), in the order of time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "capture/bpf/programs/records.h"

namespace kmt {

class CpuRings {
 public:
  // Of `bytes` each, a power of two; they must outlive this.
  CpuRings(const std::vector<kmt_ring*>& rings, std::uint64_t bytes) { add(rings, bytes); }
  void add(const std::vector<kmt_ring*>& rings, std::uint64_t bytes);  // before anything is taken

  using Give = std::function<void(const kmt_entry& entry, const std::uint64_t* words)>;

  // Gives what was complete at the last call but could not be known to be in order then, and looks again; to be called
  // every few milliseconds with the time on the programs' clock. Entries are valid until `give` returns. Throws Error
  // when a ring holds what no program writes.
  void take(std::uint64_t now_ns, const Give& give);
  // Everything that is left, when no program runs any more.
  void take_rest(const Give& give);

  // The part of a ring that the last look found filled, the fullest one's.
  double filled() const { return filled_; }
  std::uint64_t bytes() const;      // of entries since the beginning; from any thread
  std::uint64_t lost() const;       // likewise
  std::uint64_t not_taken() const;  // entries that are still there, when no program runs and nobody takes

 private:
  struct Ring {
    kmt_ring* shared;
    std::uint64_t bytes;
    std::uint64_t tail = 0;       // what has been given
    std::uint64_t ready = 0;      // was complete at the look before the last one
    std::uint64_t seen = 0;       // at the last look
    bool ready_is_begun = false;  // something was being written there then, of an unknown time
    bool seen_is_begun = false;
    std::uint64_t time_ns = 0;  // of the entry at the tail
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
