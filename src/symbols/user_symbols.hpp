// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the names of functions in the code of user programs. The names are from the files that the trace names, if
// their build IDs match, or from separate debug info of these files. The trace itself has symbols of the vDSO and of
// generated code. Names of generated code may also be in files perf-PID.map, which programs write.
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
  // Root directory with the files of the traced machine. If empty, the files of this machine are used.
  std::string symfs;
  // directories to search for debug info by build ID, before /usr/lib/debug
  std::vector<std::string> debug_dirs;
  bool debuginfod = false;  // true: use debuginfod-find to fetch debug info from the servers in DEBUGINFOD_URLS
  // True if files perf-PID.map in /tmp of this machine belong to the traced programs.
  bool made_code_here = false;
};

class UserSymbols {
 public:
  // `code` must outlive this object, and may grow while this object uses it. No file is opened before the first name is
  // needed.
  UserSymbols(const UserCode& code, UserSymbolOptions options) : code_(code), options_(std::move(options)) {}

  // Returns the name of a frame of UserCode::frames that is not a kernel frame. The results are kept. May be called
  // from several threads.
  const UserName& name(std::uint32_t frame);
  // Returns findings about the files that, up to now, were not found or belong to another build.
  Findings findings() const;

 private:
  struct Made {
    std::uint64_t start;
    std::uint64_t size;
    std::string name;
  };
  struct Image {
    bool opened = false;
    std::unique_ptr<ElfSymbols> file;   // null if the file was not found or has another build ID
    std::unique_ptr<ElfSymbols> debug;  // separate debug info; null unless the file lacks .symtab
    std::vector<Made> made;             // symbols of generated code (CodeObject::symbols), sorted by start
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
  std::vector<std::unique_ptr<Image>> images_;    // index: number of the object
  std::vector<std::unique_ptr<UserName>> names_;  // index: number of the frame
  Findings findings_;
  std::optional<bool> can_fetch_;  // true if debug info can be fetched; empty before the first attempt
};

}  // namespace kmt
