// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input/symbol_options.hpp"

#include <filesystem>

#include "base/file.hpp"

namespace kmt {

namespace {

std::string check_directory(const std::string& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (!exists(status)) return "Directory does not exist: " + path;
  return is_directory(status) ? "" : "Directory is actually a file: " + path;
}

}  // namespace

void add_symbol_options(Command& command, SymbolOptions& options) {
  command.flag("--lines", &options.lines,
               "Show file and line of call sites\nFrom debug info of the traced kernel and its modules, which is "
               "looked for in /usr/lib/debug by the build-ids that a .kmt holds, and wherever --vmlinux and "
               "--debug-dir say. They imply this one.");
  command.option("--vmlinux", &options.vmlinux, "FILE",
                 "Take the kernel's debug info from FILE\nIt has to be of the very build that was traced.");
  add_name_options(command, options);
}

void add_name_options(Command& command, SymbolOptions& options) {
  command.option("--debug-dir", &options.debug_dirs, "DIR",
                 "Search DIR for debug info of kernel and modules\nAs packages lay it out: .build-id/xx/*.debug, "
                 "vmlinux-RELEASE, boot, lib/modules/RELEASE, and the same below usr/lib/debug. May be given more than "
                 "once. What is of another build is passed over, and said.",
                 {.repeats = true});
  add_kallsyms_option(command, options);
  command.option(
      "--symfs", &options.symfs, "DIR",
      "Look for the programs and libraries of user stacks below DIR\nDIR is a copy of the root of the traced machine. "
      "Without it they are those of this machine; what is of another build than the traced one is passed over, and "
      "said. Debug info of programs is looked for by build-id, in --debug-dir and in /usr/lib/debug.",
      {.check = check_directory});
  command.flag("--debuginfod", &options.debuginfod,
               "Fetch debug info of programs from the servers of $DEBUGINFOD_URLS\nBy debuginfod-find. Nothing is "
               "asked of a network without this option.");
}

void add_kallsyms_option(Command& command, SymbolOptions& options) {
  command.option(
      "--kallsyms", &options.kallsyms, "FILE",
      "Take the kernel's symbols from FILE, a copy of /proc/kallsyms\nFor traces that hold none, as perf.data. Without "
      "it they come from --vmlinux, or from the running kernel if its build-id is the trace's.");
}

void add_wrapper_options(Command& command, WrapperOptions& options) {
  command.option("--wrappers", &options.files, "FILE",
                 "Add to the list of functions that hide the caller\nA glob a line; `!` in front takes functions out "
                 "of the list. docs/wrappers.md has the built-in one. May be given more than once.",
                 {.repeats = true});
  command.flag("--no-wrappers", &options.none, "Hide no function, whatever the lists say",
               {.excludes = {"--wrappers"}});
}

WrapperList wrapper_list(const WrapperOptions& options) {
  if (options.none) return {};
  WrapperList wrappers = WrapperList::built_in();
  for (const std::string& path : options.files) wrappers.add(read_file(path), path);
  return wrappers;
}

}  // namespace kmt
