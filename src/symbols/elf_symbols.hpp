// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the names of functions from the symbol tables of an ELF file, using libelf.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"

namespace kmt {

class ElfSymbols {
 public:
  // Throws Error if the file is not ELF. The symbol tables are read only when a symbol is needed. Damaged symbols are
  // skipped.
  ElfSymbols(FileDescriptor file, std::string path);
  ~ElfSymbols();
  ElfSymbols(const ElfSymbols&) = delete;
  ElfSymbols& operator=(const ElfSymbols&) = delete;

  const std::string& path() const { return path_; }
  const std::string& build_id() const { return build_id_; }  // returns the build ID in hex; empty if the file has none
  // returns false if the file has no symbol table except .dynsym, which has only exported functions
  bool has_symtab() const { return has_symtab_; }

  // Returns the link-time address for an offset in the file. If the file has only debug info, the address is guessed
  // from the usual layout that linkers produce.
  std::uint64_t address_of(std::uint64_t file_offset) const;

  struct Function {
    std::string_view name;  // the name in the file; valid as long as this object exists
    std::uint64_t offset = 0;
  };
  // Returns the function that contains a link-time address.
  std::optional<Function> at(std::uint64_t address);

 private:
  struct Handle;
  struct Symbol {
    std::uint64_t address = 0;
    std::uint64_t size = 0;  // in bytes; if unknown, the distance to the end of the section
    bool is_sized = false;
    const char* name = nullptr;
    std::uint32_t rank = 0;  // if several symbols have the same address, the one with the highest rank is kept
  };
  struct Segment {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t address = 0;
  };

  void read_segments();
  void read_symbols();

  std::string path_;
  FileDescriptor file_;
  std::unique_ptr<Handle> handle_;
  std::string build_id_;
  bool has_symtab_ = false;
  bool symbols_read_ = false;
  std::vector<Segment> segments_;
  std::vector<Symbol> symbols_;  // sorted by address
};

// Returns a C++ or Rust name in readable form without its parameters. Returns all other names unchanged.
std::string demangled(std::string_view name);

}  // namespace kmt
