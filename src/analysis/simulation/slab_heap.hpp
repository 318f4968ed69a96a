// SPDX-License-Identifier: GPL-2.0-or-later
// Models the pages of one slab cache: in which slab each object is placed, and how much memory the slabs hold.
#pragma once

#include <cstdint>
#include <memory>

#include "analysis/simulation/slab_geometry.hpp"

namespace kmt {

class SlabHeap {
 public:
  virtual ~SlabHeap() = default;
  // Allocates an object. The result identifies the object when release() is called. `node` is the requested node;
  // negative: no node requested.
  virtual std::uint32_t allocate(std::uint64_t bytes, unsigned cpu, int node) = 0;
  virtual void release(std::uint32_t place, std::uint64_t bytes, unsigned cpu) = 0;
  virtual std::uint64_t held_bytes() const = 0;
  // Returns the number of slabs on the partial lists of CPUs and nodes. These slabs have free objects and are not
  // active on a CPU.
  virtual std::uint64_t partial_slabs() const { return 0; }
};

// The heap of objects that are larger than the largest class. Each of them has whole pages of its own.
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
