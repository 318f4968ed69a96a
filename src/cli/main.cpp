// SPDX-License-Identifier: GPL-2.0-or-later
// The main program. It runs a command and reports errors.
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/command_line.hpp"
#include "cli/help.hpp"
#include "cli/program.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/confined.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/output.hpp"
#include "cli/support/replaced_file.hpp"

namespace kmt {
namespace {

// A program name of 2008, and the arguments that this name stands for. Files with these names are symlinks to this
// program.
struct OldName {
  std::string_view name;
  std::vector<std::string> words;
};

std::vector<OldName> old_names() {
  return {{"kmemtrace_check", {"check", "--records-only"}},
          {"kmemtrace-check", {"check", "--records-only"}},
          {"kmemtrace-report", {"report"}}};
}

// Returns the arguments of the program. If the program was started with an old name, the arguments of this name come
// first.
std::vector<std::string> arguments_of(const std::string& program, int argc, char** argv) {
  std::vector<std::string> arguments;
  for (const OldName& old : old_names())
    if (program == old.name) arguments = old.words;
  for (int i = 1; i < argc; ++i) arguments.emplace_back(argv[i]);
  return arguments;
}

int run(int argc, char** argv) {
  const std::string name = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "";
  const bool is_daemon = name == "kmemtraced";
  Command program = is_daemon ? kmemtraced_program() : Command{"kmemtrace", "", "", nullptr};
  if (!is_daemon) add_commands(program);
  std::vector<std::string> arguments = arguments_of(name, argc, argv);
  if (!is_daemon && !arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  if (!is_daemon && !arguments.empty()) refuse_absent_command(arguments.front());
  // kmemtrace-report of 2008 reads the relay files in the working directory.
  if (name == "kmemtrace-report")
    *std::get<std::vector<std::string>*>(program.command("report")->find("FILE")->target) = {"."};
  const ParsedLine line = parse_command_line(program, arguments);
  switch (line.wanted) {
    case Wanted::version: print_result("kmemtrace " KMEMTRACE_VERSION "\n"); return 0;
    case Wanted::help:
    case Wanted::long_help:
      print_result(help_text(program, *line.command, line.wanted == Wanted::long_help, stdout_style({}).width));
      return 0;
    case Wanted::run: break;
  }
  refuse_other_kinds(*line.command);
  if (!is_daemon) confine_command(*line.command);
  return line.command->run(*line.command);
}

}  // namespace
}  // namespace kmt

int main(int argc, char** argv) {
  kmt::reserve_standard_streams();
  kmt::catch_aborts_of_libraries();
  kmt::handle_ending_signals();
  try {
    return kmt::run(argc, argv);
  } catch (const kmt::Error& error) {
    return kmt::print_error(error);
  } catch (const std::bad_alloc&) {
    return kmt::print_error(kmt::Error("Out of memory"));
  } catch (const std::filesystem::filesystem_error& error) {
    return kmt::print_error(
        kmt::Error("Cannot access the file: " + error.code().message()).at({error.path1().string(), {}, {}}));
  } catch (const std::exception& error) {
    return kmt::print_error(kmt::Error(std::string("Internal error: ") + error.what()));
  }
}
