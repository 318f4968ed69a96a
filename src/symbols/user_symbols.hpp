// SPDX-License-Identifier: GPL-2.0-or-later
// Finds names in user programs' code. The sources are files that the trace names, if their build ID matches; separate
// debug info of these files; symbols in the trace itself (of the vDSO and of generated code); and perf-PID.map files
// that programs write for code that they generate.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "symbols/elf_symbols.hpp"
#include "trace/code/user_code.hpp"
#include "trace/imperfections.hpp"

namespace kmt {

struct UserSymbolOptions {
  // root directory of the traced machine's files; empty: use files of this machine
  std::string symfs;
  std::vector<std::string> debug_dirs;  // directories to search for debug info by build ID, before /usr/lib/debug
  bool debuginfod = false;              // fetch debug info from the servers in DEBUGINFOD_URLS, with debuginfod-find
  // true if perf-PID.map files in this machine's /tmp belong to the traced programs
  bool made_code_here = false;
};

class UserSymbols {
 public:
  // `code` may grow while this object uses it, and must outlive this object. No file is opened before the first name is
  // needed.
  UserSymbols(const UserCode& code, UserSymbolOptions options) : code_(code), options_(std::move(options)) {}

  // Returns the name of a frame of UserCode::frames that is not in the kernel. Results are kept. May be called from
  // several threads.
  const UserName& name(std::uint32_t frame);
  // Returns the files so far that were not found or are of another build.
  Findings findings() const;

 private:
  struct Made {
    std::uint64_t start;
    std::uint64_t size;
    std::string name;
  };
  struct Image {
    bool opened = false;
    std::unique_ptr<ElfSymbols> file;   // null if the file was not found
    std::unique_ptr<ElfSymbols> debug;  // separate debug info if the file lacks .symtab
    std::vector<Made> made;             // symbols of generated code (CodeObject::symbols), by start
    std::string name;                   // short name
  };

  Image& image(std::uint32_t object);
  void open(const CodeObject& object, Image& image);
  void take_symbols(std::string_view lines, Image& image);
  std::string read_map(const std::string& path);
  std::unique_ptr<ElfSymbols> try_open(const CodeObject& object, const std::string& path, bool in_symfs,
                                       std::string& why);
  std::unique_ptr<ElfSymbols> find_debug_file(const CodeObject& object, std::string& why);
  UserName look_up(const UserFrame& frame);

  const UserCode& code_;
  UserSymbolOptions options_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Image>> images_;    // by object
  std::vector<std::unique_ptr<UserName>> names_;  // by frame
  Findings findings_;
  std::optional<bool> can_fetch_;  // empty until it was tried
};

}  // namespace kmt
