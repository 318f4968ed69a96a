// SPDX-License-Identifier: GPL-2.0-or-later
// Reads one CPU's rings of BPF programs (records.h), in the order of time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "capture/bpf/programs/records.h"

namespace kmt {

class CpuRings {
 public:
  // `bytes` is the size of each, a power of two; the rings must outlive this.
  CpuRings(const std::vector<kmt_ring*>& rings, std::uint64_t bytes) { add(rings, bytes); }
  void add(const std::vector<kmt_ring*>& rings, std::uint64_t bytes);  // call it before take()

  using Give = std::function<void(const kmt_entry& entry, const std::uint64_t* words)>;

  // Gives entries that were complete at the last call, whose order is certain now, and looks again. Call it every few
  // milliseconds with the time of the programs' clock. Entries are valid until `give` returns. Throws Error for
  // contents that no program writes.
  void take(std::uint64_t now_ns, const Give& give);
  // Gives the rest, after the last program has ended.
  void take_rest(const Give& give);

  // Returns the fullest ring's filled part at the last look.
  double filled() const { return filled_; }
  std::uint64_t bytes() const;      // of entries since the start; from any thread
  std::uint64_t lost() const;       // likewise
  std::uint64_t not_taken() const;  // entries still in the rings, when no program runs and no reader takes

 private:
  struct Ring {
    kmt_ring* shared;
    std::uint64_t bytes;
    std::uint64_t tail = 0;       // given so far
    std::uint64_t ready = 0;      // complete at the look before the last one
    std::uint64_t seen = 0;       // at the last look
    bool ready_is_begun = false;  // an entry of unknown time was being written there
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
