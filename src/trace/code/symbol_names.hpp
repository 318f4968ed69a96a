// SPDX-License-Identifier: GPL-2.0-or-later
// Provides names for kernel addresses to analyses and results.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/code/user_code.hpp"

namespace kmt {

// A function and a line in the kernel's source code.
struct SourceFrame {
  std::string function;  // empty if the debug info does not contain the function
  std::string file;      // source file such as "fs/dcache.c"; empty if the debug info does not contain it
  std::uint32_t line = 0;
  bool hides_caller = false;  // the function is a wrapper around an allocator (wrappers.hpp)

  friend bool operator==(const SourceFrame&, const SourceFrame&) = default;
};

class SymbolNames {
 public:
  virtual ~SymbolNames() = default;
  // Returns "kmem_cache_create+0x1f" or "ext4_find_extent+0x3c [ext4]". If there is no symbol, returns the address in
  // hex.
  virtual std::string name(std::uint64_t address) const = 0;
  // Returns the address in the kernel if `address` is a stand-in address of ModuleLoads. Returns other addresses
  // unchanged.
  virtual std::uint64_t real_address(std::uint64_t address) const { return address; }
  // Returns one address for the same code of a module, even if the module was loaded several times at different
  // addresses.
  virtual std::uint64_t first_address(std::uint64_t address) const { return address; }
  // Returns the functions and source lines of the call that returns to this address. The innermost inlined function is
  // first. Empty if there is no debug info.
  virtual std::vector<SourceFrame> frames(std::uint64_t) const { return {}; }
  // Returns the text that the constructor of SourceDirectories needs (code_owner.hpp). Empty if it is unknown.
  virtual std::string_view module_directories() const { return {}; }
  // Returns the name of a user-space frame. The argument is an index into UserCode::frames.
  virtual UserName user_name(std::uint64_t) const { return {}; }
};

// Returns the source line of the most relevant frame: the first function that is not a wrapper or, if all are wrappers,
// the last one. Examples are "fs/dcache.c:1760" and, if the function is inlined, "fs/dcache.c:1760, inlined d_make".
// Empty if no file is known. The text may contain unprintable characters.
std::string source_text(std::span<const SourceFrame> frames);

}  // namespace kmt
