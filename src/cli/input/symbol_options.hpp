// SPDX-License-Identifier: GPL-2.0-or-later
// Options about debug info and wrapper functions, for commands that show call sites.
#pragma once

#include <string>
#include <vector>

#include "cli/support/options.hpp"
#include "symbols/symbols.hpp"
#include "trace/code/wrappers.hpp"

namespace kmt {

struct WrapperOptions {
  std::vector<std::string> files;
  bool none = false;
};

// Adds --lines, --vmlinux and the options of add_name_options().
void add_symbol_options(Command& command, SymbolOptions& options);
// Adds the options for sources of names: --debug-dir, --kallsyms, --symfs and --debuginfod.
void add_name_options(Command& command, SymbolOptions& options);
// --kallsyms alone
void add_kallsyms_option(Command& command, SymbolOptions& options);
// --wrappers, --no-wrappers
void add_wrapper_options(Command& command, WrapperOptions& options);

// Returns the built-in list of wrapper functions together with the lists in the files. Throws Error.
WrapperList wrapper_list(const WrapperOptions& options);

}  // namespace kmt
