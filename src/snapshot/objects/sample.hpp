// SPDX-License-Identifier: GPL-2.0-or-later
// Samples the live objects of slab caches.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "snapshot/objects/slabs.hpp"
#include "trace/state/object_sample.hpp"

namespace kmt {

inline constexpr std::uint64_t kFramesOfChunk = 512;

// Slabs of a cache in a chunk of page frames.
struct SlabsOfChunk {
  std::vector<std::uint64_t> frames;
};

// Collects the slabs of a cache. Chunks of page frames come in random order, so that the slabs are from everywhere in
// memory.
class SlabCollection {
 public:
  explicit SlabCollection(std::size_t wanted) : wanted_(wanted) {}

  void add(SlabsOfChunk chunk);
  // True if there are enough slabs in enough chunks.
  bool is_enough() const { return spread_ >= wanted_; }
  std::uint64_t found() const { return found_; }

  struct Chosen {
    std::uint64_t frame = 0;
    double weight = 1;  // number of slabs that this one represents
  };
  std::vector<Chosen> choose() const;  // about `wanted` slabs, evenly from all chunks

 private:
  static constexpr std::size_t kMostOfChunk = 8;  // maximum number of slabs of one chunk that count for is_enough()

  std::size_t wanted_;
  std::size_t spread_ = 0;
  std::uint64_t found_ = 0;
  std::vector<SlabsOfChunk> chunks_;
};

// Returns the numbers from 0 to `count` - 1 in an order that looks random, but is the same in each run.
std::vector<std::uint64_t> shuffled(std::uint64_t count);

// Reads objects of the chosen slabs. Adds about `most_objects` to the sample, with a weight for each. Stops if
// `proceed` returns false. `sample` must have the name of the cache.
void read_objects(Slabs& slabs, KernelReader& memory, const SlabAddresses& addresses, const SlabCache& cache,
                  const SlabCollection& found, std::uint64_t most_objects, const std::function<bool()>& proceed,
                  CacheSample& sample);

// Classifies the words of one object.
ObjectSample describe_object(Slabs& slabs, KernelReader& memory, const SlabAddresses& addresses, std::uint64_t address,
                             std::span<const std::uint8_t> bytes, std::vector<NamedCache>& caches);

}  // namespace kmt
