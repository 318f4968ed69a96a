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
               "Show file and line of call sites\nThey come from debug info of the traced kernel and its modules: in "
               "/usr/lib/debug by the build IDs in a .kmt, and where --vmlinux and --debug-dir point. Those options "
               "imply --lines.");
  command.option("--vmlinux", &options.vmlinux, "FILE",
                 "Take the kernel's debug info from FILE\nIt must be of exactly the build that was traced.");
  add_name_options(command, options);
}

void add_name_options(Command& command, SymbolOptions& options) {
  command.option(
      "--debug-dir", &options.debug_dirs, "DIR",
      "Search DIR for debug info of kernel and modules\n"
      "The layout is the one of packages: .build-id/xx/*.debug, vmlinux-RELEASE, boot, lib/modules/RELEASE, and the "
      "same below usr/lib/debug. May be given more than once. Files of another build are skipped with a note.",
      {.repeats = true});
  add_kallsyms_option(command, options);
  command.option("--symfs", &options.symfs, "DIR",
                 "Look for the programs and libraries of user stacks below DIR\nDIR is a copy of the traced machine's "
                 "root folder (default: this machine's). Files of another build than the traced one are skipped with a "
                 "note. Debug info of programs is found by build ID, in --debug-dir and in /usr/lib/debug.",
                 {.check = check_directory});
  command.flag("--debuginfod", &options.debuginfod,
               "Fetch debug info of programs from the servers in $DEBUGINFOD_URLS\nUses debuginfod-find. Without this "
               "option nothing is fetched from a network.");
}

void add_kallsyms_option(Command& command, SymbolOptions& options) {
  command.option(
      "--kallsyms", &options.kallsyms, "FILE",
      "Take the kernel's symbols from FILE, a copy of /proc/kallsyms\nFor traces without symbols, such as perf.data. "
      "By default they come from --vmlinux, or from the running kernel if its build ID is the trace's.");
}

void add_wrapper_options(Command& command, WrapperOptions& options) {
  command.option("--wrappers", &options.files, "FILE",
                 "Add to the list of wrapper functions, which are skipped to find the caller\n"
                 "One glob per line; a leading `!` removes functions from the list. docs/wrappers.md has the built-in "
                 "list. May be given more than once.",
                 {.repeats = true});
  command.flag("--no-wrappers", &options.none, "Skip no wrapper functions", {.excludes = {"--wrappers"}});
}

WrapperList wrapper_list(const WrapperOptions& options) {
  if (options.none) return {};
  WrapperList wrappers = WrapperList::built_in();
  for (const std::string& path : options.files) wrappers.add(read_file(path), path);
  return wrappers;
}

}  // namespace kmt
