// SPDX-License-Identifier: GPL-2.0-or-later
// The program: its commands, and what becomes of their errors.
#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/help.hpp"
#include "cli/investigate/investigate.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/confined.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/output.hpp"
#include "cli/support/suggest.hpp"

namespace kmt {
namespace {

constexpr const char* kDescription =
    "kmemtrace tells who allocates kernel memory, how much of it is wasted, who frees it where, and what is never "
    "freed.";

constexpr const char* kMainFooter = R"(Quick start, as root:
  kmemtrace record --duration 5s     record five seconds of this machine into trace.kmt
  kmemtrace report                   who allocated what, from trace.kmt
  kmemtrace check trace.kmt          is the trace sound?

Traces of other machines can be read here, whatever their architecture, byte order and word size.

Exit status:
  0  good
  1  found what the command looks for (check: the trace is not sound; leaks: something grows)
  2  wrong usage or input
  3  not permitted or not supported here)";

const CLI::App& selected_command(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app : *commands.front();
}

std::string full_name(const CLI::App& command) {
  return command.get_parent() ? full_name(*command.get_parent()) + " " + command.get_name() : command.get_name();
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// An argument that nothing expects: a mistyped command, a mistyped option, or one word too many.
Error unexpected_argument(const CLI::App& app, const std::string& argument) {
  const CLI::App& command = selected_command(app);
  const bool option = argument.starts_with('-');
  const bool command_name = !option && &command == &app;
  Error error(fmt::format("Unknown {} \"{}\"", option ? "option" : command_name ? "command" : "argument", argument));
  const std::string typed = argument.substr(0, argument.find('='));
  const std::string nearest = nearest_name(typed, option         ? names_of_options(command)
                                                  : command_name ? names_of_commands(app)
                                                                 : std::vector<std::string>{});
  // An option that may have a value takes it behind "=" only.
  const CLI::Option* const stacks = command.get_option_no_throw("--stacks");
  const CLI::Option* const words = command.get_option_no_throw("COMMAND");
  if (stacks != nullptr && stacks->count() > 0 && words != nullptr && words->count() > 0)
    if (const std::string& first = words->results().front(); first == "kernel" || first == "user" || first == "both")
      return error.hint(fmt::format("Write --stacks={}", first));
  const std::string see = fmt::format("`{} -h` lists what there is", full_name(command));
  error.hint(nearest.empty() ? see : fmt::format("Did you mean \"{}\"? {}", nearest, see));
  return error;
}

// Globs, names of files and words of commands may begin and end with brackets, which CLI11 would take for a list's: in
// its hands they end with this.
constexpr char kNoList = '\x01';

std::string marked(std::string word) {
  if (word.starts_with('[') && word.ends_with(']')) word += kNoList;
  return word;
}

std::string unmarked(std::string word) {
  if (word.starts_with('[') && word.ends_with(std::string("]") + kNoList)) word.pop_back();
  return word;
}

void unmark_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options())
    if (option->get_expected_max() > 0) option->transform(unmarked);
}

Error usage_error(const CLI::App& app, const CLI::ParseError& problem) {
  const std::vector<std::string> extra = app.remaining(true);
  if (!extra.empty() && dynamic_cast<const CLI::ExtrasError*>(&problem))
    return unexpected_argument(app, unmarked(extra.front()));
  const bool lacks_value = dynamic_cast<const CLI::ArgumentMismatch*>(&problem) != nullptr;
  const std::string what = problem.what();
  const std::string name = what.substr(0, what.find(':'));
  const CLI::Option* const option = lacks_value ? selected_command(app).get_option_no_throw(name) : nullptr;
  const char* const lacks = option && option->get_expected_min() > 1     ? " takes two values"
                            : what.find("received") != std::string::npos ? " is given more than once"
                                                                         : " needs a value";
  Error error(lacks_value ? name + lacks : what);
  error.hint(fmt::format("`{} -h` shows the usage", full_name(selected_command(app))));
  return error;
}

// Nothing is called "" but the main buffer of a trace: --cgroup "$UNSET" must not record the whole machine.
void refuse_empty_values(CLI::App& command) {
  const CLI::Validator not_empty([](const std::string& text) { return text.empty() ? "must not be empty" : ""; }, "");
  for (CLI::Option* option : command.get_options())
    if (option->nonpositional() && option->get_expected_max() > 0 && !option->check_lname("buffer"))
      option->check(not_empty);
}

// The names that the program had in 2008, each with the words that stand for it. They are links to the one program.
struct OldName {
  std::string_view name;
  std::vector<std::string> words;
};

std::vector<OldName> old_names() {
  return {{"kmemtrace_check", {"check", "--records-only"}},
          {"kmemtrace-check", {"check", "--records-only"}},
          {"kmemtrace-report", {"report"}}};
}

constexpr const char* kTracedDescription =
    "kmemtraced records the kernel's allocations and frees into files in the working directory, as in 2008.";

// What stands behind the program's name.
std::vector<std::string> arguments_of(const std::string& program, int argc, char** argv) {
  std::vector<std::string> arguments;
  for (const OldName& old : old_names())
    if (program == old.name) arguments = old.words;
  for (int i = 1; i < argc; ++i) arguments.emplace_back(argv[i]);
  return arguments;
}

// What stands behind `--` where the command has arguments of its own in front of it: CLI11 would not tell them apart.
std::vector<std::string> take_command_words(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != "graph") return {};
  const auto mark = std::ranges::find(arguments, "--");
  if (mark == arguments.end()) return {};
  std::vector<std::string> words(mark + 1, arguments.end());
  arguments.erase(mark, arguments.end());
  return words;
}

void add_commands(CLI::App& app, int& exit_code, const std::vector<std::string>& command_words) {
  app.footer(kMainFooter);
  app.require_subcommand(0, 1);  // one at most, so that a file may be called like a command
  add_list_command(app, exit_code);
  add_record_command(app, exit_code);
  add_stat_command(app, exit_code);
  add_top_command(app, exit_code);
  add_profile_command(app, exit_code);
  add_serve_command(app, exit_code);
  add_check_command(app, exit_code);
  add_report_command(app, exit_code);
  add_pages_command(app, exit_code);
  add_leaks_command(app, exit_code);
  add_timeline_command(app, exit_code);
  add_simulate_command(app, exit_code);
  add_snapshot_command(app, exit_code);
  add_investigate_command(app, exit_code);
  add_diff_command(app, exit_code);
  add_flamegraph_command(app, exit_code);
  add_graph_command(app, exit_code, command_words);
  add_export_command(app, exit_code);
  add_fleet_command(app, exit_code);
  add_convert_command(app, exit_code);
  add_repair_command(app, exit_code);
  add_completion_command(app, exit_code);
  for (CLI::App* command : app.get_subcommands({})) {
    refuse_empty_values(*command);
    unmark_values(*command);
  }
  confine_commands(app);
}

int run(int argc, char** argv) {
  int exit_code = 0;
  std::vector<std::string> command_words;
  const std::string program = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "";
  const bool is_daemon = program == "kmemtraced";
  CLI::App app(is_daemon ? kTracedDescription : kDescription, is_daemon ? "kmemtraced" : "kmemtrace");
  app.formatter(help_formatter(stdout_style({}).width));
  app.set_help_flag("-h", "Show short help");
  app.set_help_all_flag("--help", "Show long help");
  app.set_version_flag("--version", "kmemtrace " KMEMTRACE_VERSION, "Show the version");
  if (is_daemon) {
    add_kmemtraced_options(app, exit_code);
    refuse_empty_values(app);
    unmark_values(app);
  } else {
    add_commands(app, exit_code, command_words);
    if (program == "kmemtrace-report") app.get_subcommand("report")->get_option("FILE")->default_val(".");
  }

  try {
    std::vector<std::string> arguments = arguments_of(program, argc, argv);
    if (!is_daemon && !arguments.empty()) {
      if (arguments.front() == "help") {
        arguments.erase(arguments.begin());
        arguments.emplace_back("--help");
      }
      const std::string& first = arguments.front();  // its help would be that of the whole program
      const std::vector<std::string> names = names_of_commands(app);
      if (!first.starts_with('-') && std::ranges::find(names, first) == names.end())
        throw unexpected_argument(app, first);
    }
    command_words = take_command_words(arguments);
    std::ranges::transform(arguments, arguments.begin(), marked);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    app.parse(arguments);
  } catch (const CLI::CallForVersion& version) {
    print_result(std::string(version.what()) + "\n");
    return 0;
  } catch (const CLI::CallForHelp&) {
    print_result(app.help());
    return 0;
  } catch (const CLI::CallForAllHelp&) {
    print_result(app.help("", CLI::AppFormatMode::All));
    return 0;
  } catch (const CLI::ParseError& problem) {
    throw usage_error(app, problem);
  }
  if (!is_daemon && app.get_subcommands().empty()) {
    Error error("No command given");
    error.hint("`kmemtrace report FILE` reports on a trace; `kmemtrace -h` lists the commands");
    throw error;
  }
  return exit_code;
}

}  // namespace
}  // namespace kmt

int main(int argc, char** argv) {
  kmt::reserve_standard_streams();
  kmt::catch_aborts_of_libraries();
  try {
    return kmt::run(argc, argv);
  } catch (const kmt::Error& error) {
    return kmt::print_error(error);
  } catch (const std::bad_alloc&) {
    return kmt::print_error(kmt::Error("Out of memory"));
  } catch (const std::exception& error) {
    return kmt::print_error(kmt::Error(std::string("Internal error: ") + error.what()));
  }
}
