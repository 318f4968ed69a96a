// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/cpu_rings.hpp"

#include <algorithm>
#include <atomic>

#include "base/error.hpp"

namespace kmt {

namespace {

// Nanoseconds. A program marks the start of an entry before it reads the time. After this delay, the mark is visible to
// every CPU.
constexpr std::uint64_t kVisibleAfterNs = 50'000;
// The reader writes its position (the tail) into the ring only once per 1/16 of the ring, because each write slows the
// programs.
constexpr unsigned kPartBetweenTails = 16;

std::uint64_t load_acquire(unsigned long long& from) {
  return std::atomic_ref<unsigned long long>(from).load(std::memory_order_acquire);
}

}  // namespace

void CpuRings::add(const std::vector<kmt_ring*>& rings, std::uint64_t bytes) {
  for (kmt_ring* const ring : rings) rings_.push_back({ring, bytes});
}

std::uint64_t CpuRings::size_of(const kmt_entry& entry) { return sizeof entry + entry.words * sizeof(std::uint64_t); }

const kmt_entry& CpuRings::entry_at(const Ring& ring, std::uint64_t position) {
  return *reinterpret_cast<const kmt_entry*>(ring.shared->data + (position & (ring.bytes - 8)));
}

void CpuRings::look(std::uint64_t now_ns) {
  ready_before_ns_ = seen_before_ns_;
  seen_before_ns_ = now_ns > kVisibleAfterNs ? now_ns - kVisibleAfterNs : 0;
  filled_ = 0;
  for (Ring& ring : rings_) {
    ring.ready = ring.seen;
    ring.ready_is_begun = ring.seen_is_begun;
    ring.seen = load_acquire(ring.shared->head);
    ring.seen_is_begun = load_acquire(ring.shared->begun) != ring.seen;
    filled_ = std::max(filled_, static_cast<double>(ring.seen - ring.tail) / static_cast<double>(ring.bytes));
  }
}

void CpuRings::take(std::uint64_t now_ns, const Give& give) {
  look(now_ns);
  give_ready(give);
}

void CpuRings::take_rest(const Give& give) {
  look(~std::uint64_t{0});
  look(~std::uint64_t{0});
  ready_before_ns_ = ~std::uint64_t{0};
  for (Ring& ring : rings_) ring.ready_is_begun = false;
  give_ready(give);
  for (Ring& ring : rings_) {
    if (ring.shared->lost == 0) continue;
    const kmt_entry loss{ring.shared->lost_since_ns, 0, KMT_ENTRY_LOST, 1, 0, 0};
    const std::uint64_t count = ring.shared->lost;
    give(loss, &count);
    ring.shared->lost = 0;
  }
}

void CpuRings::give_ready(const Give& give) {
  std::vector<Ring*> filled;
  for (Ring& ring : rings_) {
    if (ring.tail != ring.ready) {
      ring.time_ns = entry_at(ring, ring.tail).time_ns;
      filled.push_back(&ring);
    } else if (ring.ready_is_begun) {
      return;  // all further entries may be later than the unfinished one
    }
  }
  const auto store_tail = [](const Ring& ring) {
    std::atomic_ref<unsigned long long>(ring.shared->tail).store(ring.tail, std::memory_order_release);
  };
  while (!filled.empty()) {
    const auto next = std::min_element(filled.begin(), filled.end(),
                                       [](const Ring* a, const Ring* b) { return a->time_ns < b->time_ns; });
    Ring& ring = **next;
    if (ring.time_ns >= ready_before_ns_) break;
    const kmt_entry& entry = entry_at(ring, ring.tail);
    const std::uint64_t size = size_of(entry);
    if (size > ring.ready - ring.tail || (entry.event == KMT_ENTRY_LOST && entry.words == 0))
      throw Error("A ring of a BPF program has an invalid entry");
    give(entry, reinterpret_cast<const std::uint64_t*>(&entry + 1));
    ring.tail += size;
    const std::uint64_t between_tails = ring.bytes / kPartBetweenTails;
    if (ring.tail / between_tails != (ring.tail - size) / between_tails) store_tail(ring);
    if (ring.tail != ring.ready) {
      ring.time_ns = entry_at(ring, ring.tail).time_ns;
      continue;
    }
    filled.erase(next);
    if (ring.ready_is_begun) break;
  }
  for (const Ring& ring : rings_) store_tail(ring);
}

std::uint64_t CpuRings::bytes() const {
  std::uint64_t sum = 0;
  for (const Ring& ring : rings_) sum += load_acquire(ring.shared->head);
  return sum;
}

std::uint64_t CpuRings::lost() const {
  std::uint64_t sum = 0;
  for (const Ring& ring : rings_) sum += load_acquire(ring.shared->all_lost);
  return sum;
}

std::uint64_t CpuRings::not_taken() const {
  std::uint64_t count = 0;
  for (const Ring& ring : rings_) {
    std::uint64_t at = ring.tail;
    for (const std::uint64_t head = ring.shared->head; at < head; at += size_of(entry_at(ring, at)))
      if (entry_at(ring, at).event != KMT_ENTRY_LOST) ++count;
  }
  return count;
}

}  // namespace kmt
