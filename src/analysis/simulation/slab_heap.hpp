// SPDX-License-Identifier: GPL-2.0-or-later
// A model of one slab cache's pages: where objects are put, and what memory is held for them.
#pragma once

#include <cstdint>
#include <memory>

#include "analysis/simulation/slab_geometry.hpp"

namespace kmt {

class SlabHeap {
 public:
  virtual ~SlabHeap() = default;
  // The place of the object, which release() wants back. `node`: the one asked for, negative: none.
  virtual std::uint32_t allocate(std::uint64_t bytes, unsigned cpu, int node) = 0;
  virtual void release(std::uint32_t place, std::uint64_t bytes, unsigned cpu) = 0;
  virtual std::uint64_t held_bytes() const = 0;
  // Slabs on lists of the CPUs and nodes: they have free objects, and no CPU allocates from them at present.
  virtual std::uint64_t partial_slabs() const { return 0; }
};

// Whole pages, for what is larger than the largest class.
class PageHeap : public SlabHeap {
 public:
  std::uint32_t allocate(std::uint64_t bytes, unsigned, int) override {
    held_ += bytes;
    return 0;
  }
  void release(std::uint32_t, std::uint64_t bytes, unsigned) override { held_ -= bytes; }
  std::uint64_t held_bytes() const override { return held_; }

 private:
  std::uint64_t held_ = 0;
};

}  // namespace kmt
