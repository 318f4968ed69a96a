// SPDX-License-Identifier: GPL-2.0-or-later
// Finds names, source lines and inlined functions for the addresses in a trace. Names are usually from the trace. If
// the trace has none, they are from the sources that kernel_symbols.hpp describes. Source lines are from debug info, if
// the user requests them and the debug info can be found.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "symbols/kallsyms.hpp"
#include "symbols/user_symbols.hpp"
#include "trace/code/wrappers.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

struct SymbolOptions {
  std::string kallsyms;  // path of a file with the symbols of the kernel, for a trace that has none
  std::string vmlinux;   // path of a file with the kernel's debug info; if empty, kmemtrace searches for it
  std::vector<std::string> debug_dirs;  // directories to search for debug info of the kernel and of modules
  bool lines = false;                   // true if /usr/lib/debug is searched too, for files with the right build ID
  std::string symfs;  // root directory with the programs of the traced machine; if empty, the programs of this machine
  bool debuginfod = false;  // true: fetch the debug info of programs from the servers in DEBUGINFOD_URLS

  bool want_debug_info() const { return lines || !vmlinux.empty() || !debug_dirs.empty(); }
};

class Symbols : public SymbolNames {
 public:
  // All arguments except the options must outlive this object, and the kallsyms and the notes of the trace must not
  // change. Throws Error if a file that the user names is missing, damaged or of another kernel. A file is of another
  // kernel if its build ID differs or, without a build ID, if its symbols have other addresses. Files that the search
  // finds but that cannot be used are only reported by findings(). The symbols of the running kernel are read only when
  // they are needed, because the kernel needs a long time to print them.
  Symbols(const TraceInfo& info, SymbolOptions options, const WrapperList& wrappers);
  ~Symbols() override;

  std::string name(std::uint64_t address) const override { return kallsyms().name(address); }
  std::uint64_t real_address(std::uint64_t address) const override;
  std::uint64_t first_address(std::uint64_t address) const override { return loads_.first_address(address); }
  // Opens the debug info of a module when the first address in the module is looked up. The results are kept. May be
  // called from several threads.
  std::vector<SourceFrame> frames(std::uint64_t address) const override;
  std::string_view module_directories() const override;
  UserName user_name(std::uint64_t frame) const override;

  // Returns the findings up to now. They report symbols that are not from the trace, and debug info that is missing or
  // could not be checked.
  Findings findings() const;

 private:
  struct Sources;

  // The kernel's symbols, and the findings from reading them. kernel() fills this structure.
  struct KernelSymbols {
    Findings findings;
    std::string from_elsewhere;  // symbols from a file or the running kernel; empty if the trace has symbols
    std::string_view text;
    std::string with_loads;  // `text` and the symbols of modules that were loaded during the recording
    std::optional<Kallsyms> names;
  };

  const KernelSymbols& kernel() const;
  const Kallsyms& kallsyms() const { return *kernel().names; }

  const TraceInfo& info_;
  SymbolOptions options_;
  ModuleLoads loads_;
  mutable std::once_flag kernel_read_;
  mutable KernelSymbols kernel_;
  mutable UserSymbols user_;
  std::unique_ptr<Sources> sources_;  // null if debug info was not requested
  mutable std::mutex frames_mutex_;   // protects *sources_ in frames()
};

}  // namespace kmt
