// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input/symbol_options.hpp"

#include "base/file.hpp"

namespace kmt {

void add_symbol_options(CLI::App& command, SymbolOptions& options) {
  command.add_flag("--lines", options.lines,
                   "Show file and line of call sites\nFrom debug info of the traced kernel and its modules, which is "
                   "looked for in /usr/lib/debug by the build-ids that a .kmt holds, and wherever --vmlinux and "
                   "--debug-dir say. They imply this one.");
  command
      .add_option("--vmlinux", options.vmlinux,
                  "Take the kernel's debug info from FILE\nIt has to be of the very build that was traced.")
      ->option_text("FILE");
  add_name_options(command, options);
}

void add_name_options(CLI::App& command, SymbolOptions& options) {
  command
      .add_option("--debug-dir", options.debug_dirs,
                  "Search DIR for debug info of kernel and modules\nAs packages lay it out: .build-id/xx/*.debug, "
                  "vmlinux-RELEASE, boot, lib/modules/RELEASE, and the same below usr/lib/debug. May be given more "
                  "than once. What is of another build is passed over, and said.")
      ->option_text("DIR")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_kallsyms_option(command, options);
  command
      .add_option("--symfs", options.symfs,
                  "Look for the programs and libraries of user stacks below DIR\nDIR is a copy of the root of the "
                  "traced machine. Without it they are those of this machine; what is of another build than the traced "
                  "one is passed over, and said. Debug info of programs is looked for by build-id, in --debug-dir and "
                  "in /usr/lib/debug.")
      ->option_text("DIR")
      ->check(CLI::ExistingDirectory);
  command.add_flag("--debuginfod", options.debuginfod,
                   "Fetch debug info of programs from the servers of $DEBUGINFOD_URLS\nBy debuginfod-find. Nothing is "
                   "asked of a network without this option.");
}

void add_kallsyms_option(CLI::App& command, SymbolOptions& options) {
  command
      .add_option("--kallsyms", options.kallsyms,
                  "Take the kernel's symbols from FILE, a copy of /proc/kallsyms\nFor traces that hold none, as "
                  "perf.data. Without it they come from --vmlinux, or from the running kernel if its build-id is the "
                  "trace's.")
      ->option_text("FILE");
}

void add_wrapper_options(CLI::App& command, WrapperOptions& options) {
  command
      .add_option("--wrappers", options.files,
                  "Add to the list of functions that hide the caller\nA glob a line; `!` in front takes functions out "
                  "of the list. docs/wrappers.md has the built-in one. May be given more than once.")
      ->option_text("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_flag("--no-wrappers", options.none, "Hide no function, whatever the lists say")->excludes("--wrappers");
}

WrapperList wrapper_list(const WrapperOptions& options) {
  if (options.none) return {};
  WrapperList wrappers = WrapperList::built_in();
  for (const std::string& path : options.files) wrappers.add(read_file(path), path);
  return wrappers;
}

}  // namespace kmt
