// SPDX-License-Identifier: GPL-2.0-or-later
// Finds names, source lines and inlined functions for a trace's addresses. Names are from the trace's kallsyms;
// kernel_symbols.hpp describes the sources if the trace has none. Source lines are from debug info, if it was requested
// and found.
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
  std::string kallsyms;                 // file with the kernel's symbols, for a trace that has none
  std::string vmlinux;                  // file with the kernel's debug info; empty: search for it
  std::vector<std::string> debug_dirs;  // directories to search for debug info of the kernel and its modules
  bool lines = false;                   // search /usr/lib/debug by build ID
  std::string symfs;                    // root directory of the traced machine's programs; empty: this machine's
  bool debuginfod = false;              // fetch programs' debug info from the servers in DEBUGINFOD_URLS

  bool want_debug_info() const { return lines || !vmlinux.empty() || !debug_dirs.empty(); }
};

class Symbols : public SymbolNames {
 public:
  // All arguments except the options must outlive this object, and the trace's kallsyms and notes must not change
  // afterwards. Throws Error if a file named by the user is missing, damaged, or of another kernel (its build ID
  // differs or, if a build ID is missing, its symbols have other addresses). Unusable files that were found by
  // searching are reported in findings(). The kernel's own symbols are read only when needed, because the kernel needs
  // much time to print them.
  Symbols(const TraceInfo& info, SymbolOptions options, const WrapperList& wrappers);
  ~Symbols() override;

  std::string name(std::uint64_t address) const override { return kallsyms().name(address); }
  std::uint64_t real_address(std::uint64_t address) const override;
  std::uint64_t first_address(std::uint64_t address) const override { return loads_.first_address(address); }
  // Opens the debug info of a module when the module's first address is looked up. Results are kept. Must not be called
  // from several threads.
  std::vector<SourceFrame> frames(std::uint64_t address) const override;
  UserName user_name(std::uint64_t frame) const override;

  // Returns the findings so far: the source of symbols if it is not the trace, and debug info that is missing or could
  // not be checked.
  Findings findings() const;

 private:
  struct Sources;

  // The symbols that kallsyms() uses.
  struct KernelSymbols {
    Findings findings;
    std::string from_elsewhere;  // empty if the trace's own symbols are used
    std::string_view text;
    std::string with_loads;  // `text` plus the modules that were loaded during the recording
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
  std::unique_ptr<Sources> sources_;  // null if no debug info is wanted
};

}  // namespace kmt
