// SPDX-License-Identifier: GPL-2.0-or-later
// Names of the code of user programs: from the files that a trace names, where they are the very ones by their
// build-id, from their separate debug info, and from the symbols that the trace itself holds (of the vDSO, of made
// code) or that made code's programs wrote into a perf-PID.map.
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
  std::string symfs;                    // the root of the traced machine's files; empty: those of this machine
  std::vector<std::string> debug_dirs;  // searched for debug info by build-id, before /usr/lib/debug
  bool debuginfod = false;              // ask the servers of DEBUGINFOD_URLS, through debuginfod-find
  bool made_code_here = false;          // perf-PID.map of this machine's /tmp are of the traced programs
};

class UserSymbols {
 public:
  // The code may grow while this is used, and has to outlive it. Nothing is opened before a name is asked for.
  UserSymbols(const UserCode& code, UserSymbolOptions options) : code_(code), options_(std::move(options)) {}

  // The name of a frame of UserCode::frames, except the kernel's. Results are kept. For several threads.
  const UserName& name(std::uint32_t frame);
  // Which files were not found, or are of another build, so far.
  Findings findings() const;

 private:
  struct Made {
    std::uint64_t start;
    std::uint64_t size;
    std::string name;
  };
  struct Image {
    bool opened = false;
    std::unique_ptr<ElfSymbols> file;   // null: it is not there
    std::unique_ptr<ElfSymbols> debug;  // where the file lacks .symtab
    std::vector<Made> made;             // of CodeObject::symbols, by start
    std::string name;                   // in short
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
  std::optional<bool> can_fetch_;  // empty: not tried yet
};

}  // namespace kmt
