// SPDX-License-Identifier: GPL-2.0-or-later
// Names, source lines and inlined functions of a trace's addresses: from its own kallsyms or, without one, from where
// kernel_symbols.hpp says, and from debug info where it is asked for and found.
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
  std::string kallsyms;                 // the kernel's symbols, of a trace that holds none
  std::string vmlinux;                  // the kernel's debug info; empty: it is searched for
  std::vector<std::string> debug_dirs;  // searched for the kernel's and the modules'
  bool lines = false;                   // search in /usr/lib/debug, by build-id
  std::string symfs;                    // the root of the traced machine's programs; empty: this machine's
  bool debuginfod = false;              // programs' debug info from the servers of DEBUGINFOD_URLS

  bool want_debug_info() const { return lines || !vmlinux.empty() || !debug_dirs.empty(); }
};

class Symbols : public SymbolNames {
 public:
  // Everything except the options has to outlive this, and the trace's kallsyms and notes must not change any more.
  // Throws Error if a named file is missing, damaged, or of another kernel: its build-id differs from the trace's, or,
  // if one side has none, its symbols have other addresses. Unusable files that were only searched for become
  // findings(). The kernel's own symbols are read on demand: printing them is much work for the kernel.
  Symbols(const TraceInfo& info, SymbolOptions options, const WrapperList& wrappers);
  ~Symbols() override;

  std::string name(std::uint64_t address) const override { return kallsyms().name(address); }
  std::uint64_t real_address(std::uint64_t address) const override;
  std::uint64_t first_address(std::uint64_t address) const override { return loads_.first_address(address); }
  // Debug info of a module is opened for the first of its addresses. Results are kept. Not for several threads.
  std::vector<SourceFrame> frames(std::uint64_t address) const override;
  UserName user_name(std::uint64_t frame) const override;

  // So far: the source of symbols if not the trace, and debug info that is missing or could not be checked.
  Findings findings() const;

 private:
  struct Sources;

  // Symbols that kallsyms() reads.
  struct KernelSymbols {
    Findings findings;
    std::string from_elsewhere;  // empty: the trace's own symbols are used
    std::string_view text;
    std::string with_loads;  // the same, with what was loaded while the trace was recorded
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
  std::unique_ptr<Sources> sources_;  // null when no debug info is wanted
};

}  // namespace kmt
