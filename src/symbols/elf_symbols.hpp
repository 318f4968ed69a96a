// SPDX-License-Identifier: GPL-2.0-or-later
// The functions of one ELF file by its symbol tables, read through libelf.
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
  // Throws Error where the file is no ELF. Symbols are read when one is asked for; what is damaged of them is left out.
  ElfSymbols(FileDescriptor file, std::string path);
  ~ElfSymbols();
  ElfSymbols(const ElfSymbols&) = delete;
  ElfSymbols& operator=(const ElfSymbols&) = delete;

  const std::string& path() const { return path_; }
  const std::string& build_id() const { return build_id_; }  // in hex; empty: it has none
  bool has_symtab() const { return has_symtab_; }            // else there is at most .dynsym: what others may call

  // Where what lies in the file is linked to; of a file that holds only debug info it is guessed as linkers do it.
  std::uint64_t address_of(std::uint64_t file_offset) const;

  struct Function {
    std::string_view name;  // as it is in the file; borrows from this
    std::uint64_t offset = 0;
  };
  // The function that covers a link-time address.
  std::optional<Function> at(std::uint64_t address);

 private:
  struct Handle;
  struct Symbol {
    std::uint64_t address = 0;
    std::uint64_t size = 0;  // up to the section's end if the file lacks it
    bool is_sized = false;
    const char* name = nullptr;
    std::uint32_t rank = 0;  // of those at one address the highest is kept
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
  std::vector<Symbol> symbols_;  // by address
};

// A C++ or Rust name as people write it, without its parameters; any other as it is.
std::string demangled(std::string_view name);

}  // namespace kmt
