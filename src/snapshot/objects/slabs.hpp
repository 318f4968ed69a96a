// SPDX-License-Identifier: GPL-2.0-or-later
// Reads slab caches and slabs from the memory of a kernel. The structures are those of SLUB (mm/slub.c in Linux 5.10,
// 6.1, 6.12, 6.18 and 7.3).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "snapshot/objects/kernel_reader.hpp"
#include "trace/state/slab_layout.hpp"

namespace kmt {

struct SlabCache {
  std::uint64_t address = 0;
  std::string name;
  std::uint64_t size = 0;  // size of an object with padding and metadata
  std::uint64_t object_size = 0;
  std::uint64_t free_pointer = 0;  // offset of the pointer to the next free object
  std::uint64_t left_pad = 0;      // start of the first object in a slab, with red zones
  std::uint64_t random = 0;        // key that hides the pointers to free objects; 0 if the kernel does not hide them
  bool is_hardened = false;
};

// A slab as its struct slab describes it.
struct SlabHead {
  std::uint64_t frame = 0;
  std::uint64_t cache = 0;
  std::uint64_t freelist = 0;
  std::uint64_t in_use = 0;
  std::uint64_t objects = 0;
  bool is_frozen = false;  // it belongs to a CPU, and `in_use` does not count its free objects
  bool operator==(const SlabHead&) const = default;
};

// The slots of a slab, with what they contain.
struct SlabContents {
  std::uint64_t address = 0;  // of the first object
  std::vector<std::uint8_t> bytes;
  std::vector<bool> is_free;  // for each slot
};

// Why the contents of a slab are unknown.
enum class SlabFailure : std::uint8_t {
  changed,     // the kernel changed the slab while it was read
  unreadable,  // its memory could not be read
  damaged,     // its list of free objects contradicts its counters
};

// The place of an address in a slab.
struct SlabPlace {
  const SlabCache* cache = nullptr;
  std::uint64_t object = 0;  // address of the object
  std::uint64_t offset = 0;  // in the object
};

// The free objects that a cache keeps for the CPUs.
struct FreeForCpus {
  std::unordered_set<std::uint64_t> objects;
  bool is_whole = true;  // false: some lists could not be read
};

class Slabs {
 public:
  // All arguments must outlive this object. Reads the list of caches. Throws Error if it is not readable.
  Slabs(KernelReader& memory, const SlubLayout& layout, const SlabAddresses& addresses, std::uint64_t page_size);

  const std::vector<SlabCache>& caches() const { return caches_; }
  const SlabCache* cache_named(const std::string& name) const;  // returns null if there is none
  const SlabCache* cache_at(std::uint64_t address) const;

  // Returns the slab that starts at this page frame. Empty if no slab of a known cache does.
  std::optional<SlabHead> head(std::uint64_t frame, bool fresh = false);
  // Returns the contents of a slab, or why they are unknown. Objects in `not_live` count as free.
  std::variant<SlabContents, SlabFailure> contents(const SlabHead& head,
                                                   const std::unordered_set<std::uint64_t>& not_live);
  // Returns the free objects that a cache keeps for the CPUs: in the lists of the CPUs and in sheaves. Slabs count
  // them as used.
  FreeForCpus free_for_cpus(const SlabCache& cache);
  // Returns the object that contains the address. Empty if the address is not in a slab of a known cache.
  std::optional<SlabPlace> find(std::uint64_t address);

 private:
  static constexpr std::uint64_t kBlockBytes = 4096;
  using Block = std::array<std::uint8_t, kBlockBytes>;

  SlabCache read_cache(std::uint64_t address);
  std::uint64_t next_free(const SlabCache& cache, std::uint64_t at, std::uint64_t stored) const;
  bool mark_free(const SlabCache& cache, const SlabHead& head, SlabContents& contents) const;
  bool add_list(const SlabCache& cache, std::uint64_t first, std::unordered_set<std::uint64_t>& found);
  bool add_sheaf(std::uint64_t sheaf, std::unordered_set<std::uint64_t>& found);
  bool add_barn(std::uint64_t barn, std::unordered_set<std::uint64_t>& found);
  bool add_nodes(const SlabCache& cache, std::unordered_set<std::uint64_t>& found);
  std::optional<std::uint64_t> per_cpu(std::uint64_t offset, unsigned cpu);
  bool read_page(std::uint64_t frame, std::span<std::uint8_t> page, bool fresh);
  std::uint64_t first_frame_of(std::uint64_t frame);

  KernelReader& memory_;
  const SlubLayout& layout_;
  const SlabAddresses& addresses_;
  std::uint64_t page_size_;
  std::vector<SlabCache> caches_;
  std::unordered_map<std::uint64_t, std::size_t> by_address_;
  std::unordered_map<std::uint64_t, Block> blocks_;  // parts of vmemmap that were read, by address
};

}  // namespace kmt
