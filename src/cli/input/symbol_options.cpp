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
               "Show the source file and line of call sites\nThe lines are read from the debug info of the traced "
               "kernel and its modules. It is searched in /usr/lib/debug by the build IDs in a .kmt, and in the places "
               "that --vmlinux and --debug-dir name. Those options imply --lines.");
  command.option(
      "--vmlinux", &options.vmlinux, "FILE",
      "Read the debug info of the kernel from FILE\nFILE must be from exactly the same build as the traced kernel.");
  add_name_options(command, options);
}

void add_name_options(Command& command, SymbolOptions& options) {
  command.option("--debug-dir", &options.debug_dirs, "DIR",
                 "Search DIR for debug info of kernel and modules\n"
                 "DIR has the layout of packages: .build-id/xx/*.debug, vmlinux-RELEASE, boot, lib/modules/RELEASE, "
                 "and the same names below usr/lib/debug. May be given more than once. Files of another build are "
                 "skipped, and a note reports them.",
                 {.repeats = true});
  add_kallsyms_option(command, options);
  command.option(
      "--symfs", &options.symfs, "DIR",
      "Search DIR for the programs and libraries of user stacks\nDIR is a copy of the root folder of the traced "
      "machine (default: the root folder of this machine). Files of another build are skipped, and a note reports "
      "them. The debug info of programs is searched by build ID in --debug-dir and in /usr/lib/debug.",
      {.check = check_directory});
  command.flag("--debuginfod", &options.debuginfod,
               "Fetch debug info of programs from the servers in $DEBUGINFOD_URLS\nThis uses debuginfod-find. Without "
               "this option, nothing is fetched from the network.");
}

void add_kallsyms_option(Command& command, SymbolOptions& options) {
  command.option("--kallsyms", &options.kallsyms, "FILE",
                 "Read the kernel symbols from FILE, a copy of /proc/kallsyms\nThis is for traces without symbols, "
                 "such as perf.data. The default is the symbols of --vmlinux, or of the running kernel if its build ID "
                 "matches the trace.");
}

void add_wrapper_options(Command& command, WrapperOptions& options) {
  command.option("--wrappers", &options.files, "FILE",
                 "Add the functions in FILE to the list of wrapper functions, which are skipped to find the caller\n"
                 "FILE has one glob per line. A leading `!` removes functions from the list. docs/wrappers.md has the "
                 "built-in list. May be given more than once.",
                 {.repeats = true});
  command.flag("--no-wrappers", &options.none, "Do not skip wrapper functions", {.excludes = {"--wrappers"}});
}

WrapperList wrapper_list(const WrapperOptions& options) {
  if (options.none) return {};
  WrapperList wrappers = WrapperList::built_in();
  for (const std::string& path : options.files) wrappers.add(read_file(path), path);
  return wrappers;
}

}  // namespace kmt
