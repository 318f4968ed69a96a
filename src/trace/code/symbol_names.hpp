// SPDX-License-Identifier: GPL-2.0-or-later
// Names for kernel addresses, as analyses and results see them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/code/user_code.hpp"

namespace kmt {

// A place in the kernel's source.
struct SourceFrame {
  std::string function;  // empty when the debug info does not say
  std::string file;      // "fs/dcache.c"; empty likewise
  std::uint32_t line = 0;
  bool hides_caller = false;  // a wrapper around an allocator (wrappers.hpp)

  friend bool operator==(const SourceFrame&, const SourceFrame&) = default;
};

class SymbolNames {
 public:
  virtual ~SymbolNames() = default;
  // "kmem_cache_create+0x1f", "ext4_find_extent+0x3c [ext4]"; the address in hex when no symbol covers it.
  virtual std::string name(std::uint64_t address) const = 0;
  // The real address for one given by ModuleLoads.
  virtual std::uint64_t real_address(std::uint64_t address) const { return address; }
  // The same for all addresses of one place in the code, where what lies there was loaded again.
  virtual std::uint64_t first_address(std::uint64_t address) const { return address; }
  // The place of the call that returns to this address: the innermost of the functions inlined there first. Empty
  // without debug info.
  virtual std::vector<SourceFrame> frames(std::uint64_t) const { return {}; }
  // The name of a frame of TraceCode::user.
  virtual UserName user_name(std::uint64_t) const { return {}; }
};

// The frame that is of interest, in short: of the first function that is no wrapper, else of the last.
// "fs/dcache.c:1760", or, where it is inlined, "fs/dcache.c:1760, inlined d_make". Empty where no file is known. Not
// made printable.
std::string source_text(std::span<const SourceFrame> frames);

}  // namespace kmt
