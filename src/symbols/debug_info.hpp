// SPDX-License-Identifier: GPL-2.0-or-later
// Reads one ELF file with DWARF debug info (vmlinux, or a module's .ko or .ko.debug file), using libdw of elfutils. All
// addresses are link-time addresses. These are the addresses in the file or, for a relocatable file, the addresses at
// which libdw places the sections. libdw is set up to read no other file and to use no network.
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
    std::string_view name;      // valid as long as the DebugInfo object exists
    std::uint64_t address = 0;  // link-time
    std::size_t section = 0;    // index into sections()
  };

  // Throws Error if the file is not ELF or has no debug info. The debug info itself is read when it is needed.
  explicit DebugInfo(const std::string& path);
  ~DebugInfo();
  DebugInfo(const DebugInfo&) = delete;
  DebugInfo& operator=(const DebugInfo&) = delete;

  const std::string& path() const { return path_; }
  const std::string& build_id() const { return build_id_; }           // empty if the file has no build ID
  const std::vector<Section>& sections() const { return sections_; }  // index: the section's number in the file
  std::vector<Symbol> code_symbols() const;  // returns the symbols in sections that contain code
  // Returns the source positions for the instruction at this address. If functions are inlined there, the innermost
  // function comes first. Paths omit the directory in which the compiler ran. Empty if the debug info does not have the
  // position. Throws Error if the debug info cannot be read.
  std::vector<SourceFrame> frames(std::uint64_t address);

 private:
  struct Reader;

  std::string path_;
  std::string build_id_;
  std::vector<Section> sections_;
  std::unique_ptr<Reader> reader_;
};

// Shortens a source path of debug info. Removes the leading directories that it has in common with the compile
// directory, if these are at least two directories or the whole compile directory. For example,
// "/build/linux/fs/dcache.c", compiled in "/build/linux/debian/build", becomes "fs/dcache.c".
std::string short_source_path(std::string_view path, std::string_view compile_dir);

}  // namespace kmt
