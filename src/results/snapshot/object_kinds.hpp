// SPDX-License-Identifier: GPL-2.0-or-later
// The kinds of live objects in a slab cache, estimated from a sample.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/state/object_sample.hpp"

namespace kmt {

// The target or the content of a word of an object.
struct WordTarget {
  enum class Kind : std::uint8_t {
    none,  // a number, or an address that nothing is known about
    list,  // the word starts a list_head
    itself,
    text,
    object,  // an object of a slab cache
    symbol,  // code or data of the kernel or of a module
  };
  Kind kind = Kind::none;
  std::string name;          // name of the cache or symbol
  std::string module;        // module of the symbol; empty: the kernel itself
  std::uint32_t offset = 0;  // offset in the object of a slab cache

  auto operator<=>(const WordTarget&) const = default;  // NOLINT(modernize-use-nullptr)
};

// A word that most objects of a kind have in common.
struct KindMember {
  std::uint32_t offset = 0;
  WordTarget target;
  double share = 0;  // share of the objects of the kind
};

// Why a module is named.
enum class ModuleSource : std::uint8_t {
  unknown,
  symbols,    // the objects point to code or data of the module
  list,       // some objects are in a list whose head is in the module
  neighbour,  // the objects point to other objects, which point to the module
  structure,  // the structure is a type of the module
};
std::string_view text_of(ModuleSource source);
std::string_view text_of(Confidence confidence);

struct SlabKind {
  // The symbol that describes the kind best. For lists and neighbours, this symbol is in other memory than the objects.
  // Empty if there is none.
  std::string symbol;
  std::string module;  // "vmlinux" for the kernel itself; empty if unknown
  ModuleSource module_source = ModuleSource::unknown;
  StructureGuess structure;
  double share = 0;           // share of the live objects
  std::uint64_t sampled = 0;  // objects of the sample
  std::uint64_t objects = 0;  // estimated
  std::uint64_t bytes = 0;    // estimated, with padding and metadata
  std::vector<KindMember> members;
  std::vector<std::uint64_t> addresses;  // addresses of up to two objects
};

struct CacheKinds {
  std::string cache;
  std::vector<std::string> aliases;
  std::uint64_t object_size = 0;
  std::uint64_t slot_size = 0;
  std::uint64_t slabs_found = 0;
  std::uint64_t slabs_read = 0;
  std::uint64_t slabs_changed = 0;     // slabs that the kernel changed while they were read
  std::uint64_t slabs_unreadable = 0;  // slabs whose memory could not be read
  std::uint64_t slabs_damaged = 0;     // slabs whose list of free objects contradicts their counters
  double searched = 1;                 // share of the page frames that were searched for slabs
  bool knows_all_slots = false;        // true: slabinfo shows the number of objects of all slabs
  bool knows_cpu_lists = true;         // false: free objects that CPUs keep may be among the live ones
  std::uint64_t sampled = 0;
  std::optional<std::uint64_t> objects;  // estimated number of live objects; empty if no slab was read
  std::optional<std::uint64_t> bytes;
  std::vector<SlabKind> kinds;  // largest first
};

// Why the reading ended before the whole sample was read.
enum class ReadingEnd : std::uint8_t { complete, most_bytes, stopped };

struct ObjectsReport {
  std::uint64_t most_objects = 0;  // limits of the reading
  std::uint64_t most_bytes = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t elapsed_ns = 0;
  ReadingEnd end = ReadingEnd::complete;
  std::vector<CacheKinds> caches;
};

}  // namespace kmt
