// SPDX-License-Identifier: GPL-2.0-or-later
// The kinds of live objects in a slab cache, estimated from a sample.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/state/object_sample.hpp"

namespace kmt {

// A word that most objects of a kind have in common.
struct KindMember {
  std::uint32_t offset = 0;
  std::string text;  // "pipefifo_fops", "list", "object of dentry"
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
  std::string name;    // the best symbol, or what the objects contain
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
  std::uint64_t slabs_changed = 0;
  std::uint64_t sampled = 0;
  std::optional<std::uint64_t> objects;  // estimated number of live objects; empty if no slab was read
  std::optional<std::uint64_t> bytes;
  std::vector<SlabKind> kinds;  // largest first
  std::vector<std::string> notes;
};

struct ObjectsReport {
  std::uint64_t most_objects = 0;  // limits of the reading
  std::uint64_t most_bytes = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t elapsed_ns = 0;
  std::vector<CacheKinds> caches;
};

}  // namespace kmt
