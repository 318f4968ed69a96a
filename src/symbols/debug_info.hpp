// SPDX-License-Identifier: GPL-2.0-or-later
// Reads one ELF file with DWARF debug info (vmlinux, a module's .ko or .ko.debug), using libdw of elfutils. Addresses
// are link-time addresses: those in the file or, for a relocatable file, those at which libdw places its sections.
// libdw is set up to read no other file and to use no network.
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
    std::string_view name;      // valid as long as this object exists
    std::uint64_t address = 0;  // link-time
    std::size_t section = 0;    // index into sections()
  };

  // Throws Error if the file is not ELF or has no debug info. The debug info itself is read when it is needed.
  explicit DebugInfo(const std::string& path);
  ~DebugInfo();
  DebugInfo(const DebugInfo&) = delete;
  DebugInfo& operator=(const DebugInfo&) = delete;

  const std::string& path() const { return path_; }
  const std::string& build_id() const { return build_id_; }           // empty if the file has none
  const std::vector<Section>& sections() const { return sections_; }  // in the order of the file's section numbers
  std::vector<Symbol> code_symbols() const;                           // symbols in sections of code
  // Returns the source position of the instruction at this address, with the innermost inlined function first. Paths
  // omit the compiler's directory. Empty if the debug info lacks the position. Throws Error if the debug info cannot be
  // read.
  std::vector<SourceFrame> frames(std::uint64_t address);

 private:
  struct Reader;

  std::string path_;
  std::string build_id_;
  std::vector<Section> sections_;
  std::unique_ptr<Reader> reader_;
};

// Removes the leading directories that a path of debug info shares with the compile directory. At least two
// directories, or the whole compile directory, must be shared. For example, "/build/linux/fs/dcache.c", compiled in
// "/build/linux/debian/build", becomes "fs/dcache.c".
std::string short_source_path(std::string_view path, std::string_view compile_dir);

}  // namespace kmt
