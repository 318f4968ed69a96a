// SPDX-License-Identifier: GPL-2.0-or-later
// A sample of the live objects of a slab cache, read from the kernel's memory. Contents that are not pointers are
// classified, but not kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kmt {

enum class WordContent : std::uint8_t {
  zero,
  number,   // anything that is no address and no text
  text,     // the first word of a readable text, or a word inside of it
  symbol,   // address in the code or data of the kernel or of a module
  object,   // address in an object of a slab cache
  address,  // another address of the kernel
};

// A word of 8 bytes of an object.
struct ObjectWord {
  std::uint64_t value = 0;  // an address; 0 for other kinds
  WordContent kind = WordContent::zero;
  bool is_list = false;             // the word is the member `next` of a list_head
  bool is_self = false;             // the address is in this object
  std::uint32_t cache = 0;          // index in CacheSample::caches, if `kind` is object
  std::uint32_t target_offset = 0;  // offset in the object that the address points to
};

struct ObjectSample {
  std::uint64_t address = 0;
  double weight = 1;  // number of live objects that this one represents
  std::vector<ObjectWord> words;
};

struct NamedCache {
  std::string name;
  std::uint64_t object_size = 0;  // size that the creator of the cache requested; for kmalloc caches, the size class
};

struct CacheSample {
  std::string name;                  // name as the kernel has it
  std::vector<std::string> aliases;  // caches that were merged into this one
  std::uint64_t address = 0;         // of the struct kmem_cache
  std::uint64_t object_size = 0;
  std::uint64_t slot_size = 0;             // size of an object with padding and metadata
  std::uint64_t smallest = 0;              // smallest size of an object that this cache is used for
  double searched = 1;                     // share of the page frames that were searched for slabs
  std::uint64_t slabs_found = 0;           // slabs of the cache in the searched page frames
  std::uint64_t slabs_read = 0;            // slabs whose objects were read
  std::uint64_t slabs_changed = 0;         // slabs that the kernel changed while they were read
  std::uint64_t slabs_unreadable = 0;      // slabs whose memory could not be read
  std::uint64_t slabs_damaged = 0;         // slabs whose list of free objects contradicts their counters
  bool knows_cpu_lists = true;             // false: free objects that CPUs keep may be among the live ones
  std::uint64_t slots = 0;                 // objects of the slabs that were read, live and free
  std::uint64_t live = 0;                  // live objects among them
  std::optional<std::uint64_t> all_slots;  // objects of all slabs, live and free
  std::vector<NamedCache> caches;          // caches that the objects point to
  std::vector<ObjectSample> objects;
};

// The symbol of an address in the code or data of the kernel or of a module.
struct ImageSymbol {
  std::string name;
  std::string module;        // empty: the kernel itself
  std::uint64_t offset = 0;  // from the start of the symbol
  bool is_code = false;
  // Functions that the data at the address points to: offset in the data, and name of the function.
  std::vector<std::pair<std::uint32_t, std::string>> functions;

  bool is_function() const { return is_code && offset == 0; }
  bool is_table() const { return !is_code && !functions.empty(); }
};
using ImageSymbols = std::unordered_map<std::uint64_t, ImageSymbol>;  // key: the address

// The contents of a member of a structure, according to the objects of a kind.
struct MemberEvidence {
  enum class Kind : std::uint8_t { function, table, data, object, list, address, number };
  std::uint32_t offset = 0;
  Kind kind = Kind::number;
  std::string symbol;                                            // name of the function or variable
  std::vector<std::pair<std::uint32_t, std::string>> functions;  // functions in the table
  std::string cache;                                             // cache of the object
  std::uint64_t cache_object_size = 0;
  std::uint32_t target_offset = 0;
};

// Names a structure of BTF that matches a kind.
enum class Confidence : std::uint8_t { none, low, medium, high };
struct StructureGuess {
  std::string name;  // empty if no structure fits, or too many
  Confidence confidence = Confidence::none;
};

}  // namespace kmt
