// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the module, the source directory and the subsystem that kernel code belongs to. docs/modules.md explains them.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "trace/code/symbol_names.hpp"

namespace kmt {

// The name of the source directory, or of the subsystem, that code belongs to.
struct CodeOwner {
  std::string name;       // "fs/ext4", "file systems"; empty: unknown
  bool is_guess = false;  // true: the name was derived only from the function's name

  friend bool operator==(const CodeOwner&, const CodeOwner&) = default;
};

// Returns the module in the name of an address. For example, returns "ext4" for "ext4_find_extent+0x3c [ext4]",
// "[kernel]" for built-in code, and "[bpf]" for code of BPF programs. Empty if the address has no name.
std::string_view module_of(std::string_view symbol);

class SourceDirectories {
 public:
  // `note` contains lines "MODULE DIRECTORY", as module_directories() returns them; it may be empty.
  explicit SourceDirectories(std::string_view note);

  // Returns the directory of the function's source file, relative to the kernel's source tree. Uses debug info if
  // present, then the note, then the built-in table directories.txt, then the note's names of built-in modules.
  CodeOwner of(std::string_view symbol, std::span<const SourceFrame> source) const;

 private:
  std::string guess(std::string_view symbol) const;

  std::map<std::string, std::string, std::less<>> of_modules_;
  std::map<std::string, std::string, std::less<>> of_built_in_modules_;
};

struct Subsystem {
  std::string_view directory;
  std::string_view name;
};
// Returns all subsystems. A source file belongs to the subsystem with the deepest directory that contains the file.
std::span<const Subsystem> subsystems();
// Returns the subsystem of a directory. Empty if no subsystem contains the directory.
CodeOwner subsystem_of(const CodeOwner& directory);

// Returns lines "MODULE DIRECTORY" for the modules in `dependencies` that are also in `loaded`. `dependencies` has the
// format of modules.dep: lines "kernel/fs/ext4/ext4.ko.xz: ...". `loaded` has the format of /proc/modules. Also returns
// lines "MODULE DIRECTORY built-in" for the modules in `built_in`, which has the format of modules.builtin: lines
// "kernel/fs/ext4/ext4.ko". Omits those whose directory the table directories.txt has.
std::string module_directories(std::string_view dependencies, std::string_view loaded, std::string_view built_in = {});

}  // namespace kmt
