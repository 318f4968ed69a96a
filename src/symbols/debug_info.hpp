// SPDX-License-Identifier: GPL-2.0-or-later
// One ELF file with DWARF debug info (vmlinux, a module's .ko or .ko.debug), read through libdw of elfutils.
// Addresses are link-time ones: those of the file, or, of a relocatable one, those where libdw lays its sections out.
// libdw is set up to look at no other file and at no network.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/code/symbol_names.hpp"

namespace kmt {

class DebugInfo {
 public:
  struct Section {
    std::string name;
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    bool code = false;
  };
  struct Symbol {
    std::string_view name;      // borrows from this object
    std::uint64_t address = 0;  // link-time
    std::size_t section = 0;    // index into sections()
  };

  // Throws Error where the file is no ELF or has no debug info. The debug info itself is read when it is asked for.
  explicit DebugInfo(const std::string& path);
  ~DebugInfo();
  DebugInfo(const DebugInfo&) = delete;
  DebugInfo& operator=(const DebugInfo&) = delete;

  const std::string& path() const { return path_; }
  const std::string& build_id() const { return build_id_; }           // empty: the file has none
  const std::vector<Section>& sections() const { return sections_; }  // as numbered in the file
  std::vector<Symbol> code_symbols() const;                           // those in sections of code
  // The source of the instruction at this address, innermost inlined function first, with paths without the compiler's
  // directory. Empty if the debug info lacks it. Throws Error if it cannot be read.
  std::vector<SourceFrame> frames(std::uint64_t address);

 private:
  struct Reader;

  std::string path_;
  std::string build_id_;
  std::vector<Section> sections_;
  std::unique_ptr<Reader> reader_;
};

// Shortens a path of debug info by the directories that it shares with the one it was compiled in: all of that one, or
// at least two ("/build/linux/fs/dcache.c", compiled in "/build/linux/debian/build", becomes "fs/dcache.c").
std::string short_source_path(std::string_view path, std::string_view compile_dir);

}  // namespace kmt
