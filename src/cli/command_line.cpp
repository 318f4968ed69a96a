// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/command_line.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "cli/support/suggest.hpp"

namespace kmt {

namespace {

// CLI11 parses a word in brackets as a list. But such a word may also be a glob, a file name or a word of a traced
// command. So this character is appended to the word before parsing and removed afterwards.
constexpr char kNoList = '\x01';

std::string marked(std::string word) {
  if (word.starts_with('[') && word.ends_with(']')) word += kNoList;
  return word;
}

std::string unmarked(std::string word) {
  if (word.starts_with('[') && word.ends_with(std::string("]") + kNoList)) word.pop_back();
  return word;
}

// Returns an error for an empty value. An empty value is usually an unset shell variable, and must not select
// everything: --cgroup "$UNSET" would record the whole machine.
std::string refuse_empty(const std::string& value) { return value.empty() ? "must not be empty" : ""; }

using Check = std::function<std::string(const std::string&)>;

Check one_of(const std::vector<std::string>& words) {
  return [words](const std::string& value) {
    return std::ranges::find(words, value) != words.end()
               ? ""
               : fmt::format("\"{}\" is not one of: {}", value, fmt::join(words, ", "));
  };
}

Check in_range(const OptionRange& range) {
  return [range](const std::string& value) {
    return CLI::Range(range.least, range.most)(value).empty()
               ? ""
               : fmt::format("\"{}\" is not a number from {} to {}", value, range.least, range.most);
  };
}

void add_rules(const Option& option, CLI::Option& parsed) {
  const OptionRules& rules = option.rules;
  if (rules.required) parsed.required();
  if (rules.once) parsed.multi_option_policy(CLI::MultiOptionPolicy::Throw);
  if (rules.repeats) parsed.expected(1)->allow_extra_args(false)->take_all();
  if (rules.values > 1) parsed.expected(static_cast<int>(rules.values));
  if (rules.may_lack_value) parsed.expected(0, 1);
  if (rules.check) parsed.transform(CLI::Validator(rules.check, ""));
  if (!rules.words.empty()) parsed.check(one_of(rules.words));
  if (rules.range) parsed.check(in_range(*rules.range));
  if (option.is_flag()) return;
  if (!option.is_argument() && !rules.may_be_empty && !rules.may_lack_value) parsed.check(refuse_empty);
  parsed.transform(unmarked);
}

// Adds an option to CLI11 that writes its value to the target of `option`. Returns null if `option` has no target.
CLI::Option* add_target(CLI::App& app, const Option& option) {
  return std::visit(
      [&](auto target) -> CLI::Option* {
        using Target = decltype(target);
        if constexpr (std::is_same_v<Target, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<Target, bool*> || std::is_same_v<Target, std::string*>) {
          return option.is_flag() ? app.add_flag(option.spec, *target) : app.add_option(option.spec, *target);
        } else {
          return app.add_option(option.spec, *target);
        }
      },
      option.target);
}

// A command, and the CLI11 app that parses it.
struct Parser {
  Command* command;
  CLI::App* app;
  std::map<const CLI::Option*, Option*> options;
};

Parser parser_of(Command& command, CLI::App& app) {
  Parser parser{&command, &app, {}};
  std::map<std::string, CLI::Option*> by_name;
  for (Option& option : command.options) {
    CLI::Option* const parsed = add_target(app, option);
    if (parsed == nullptr) continue;
    add_rules(option, *parsed);
    parser.options[parsed] = &option;
    by_name[option.title()] = parsed;
  }
  for (const Option& option : command.options) {
    for (const std::string& name : option.rules.needs) by_name.at(option.title())->needs(by_name.at(name));
    for (const std::string& name : option.rules.excludes) by_name.at(option.title())->excludes(by_name.at(name));
  }
  return parser;
}

// Copies the parsed values to the options of the command. After a parsing error, only the values before the error were
// parsed.
void take_given(Parser& parser) {
  for (const auto& [parsed, option] : parser.options) option->given = parsed->results();
  for (const CLI::Option* const parsed : parser.app->parse_order())
    if (const auto found = parser.options.find(parsed); found != parser.options.end())
      parser.command->order.push_back(found->second);
}

std::vector<std::string> names_of_commands(const Command& program) {
  std::vector<std::string> names;
  for (const Command& command : program.commands) names.push_back(command.name);
  return names;
}

std::vector<std::string> names_of_options(const Command& command) {
  std::vector<std::string> names;
  for (const Option& option : command.options) {
    const std::vector<std::string> of_option = option.names();
    names.insert(names.end(), of_option.begin(), of_option.end());
  }
  return names;
}

std::string full_name(const Command& program, const Command& command) {
  return &command == &program ? program.name : program.name + " " + command.name;
}

// Returns the error for an argument that the parser does not know. The argument is a mistyped command, a mistyped
// option, or an extra word.
Error unexpected_argument(const Command& program, const Command& command, const std::string& argument) {
  const bool option = argument.starts_with('-');
  const bool command_name = !option && &command == &program;
  Error error(fmt::format("Unknown {} \"{}\"", option ? "option" : command_name ? "command" : "argument", argument));
  const std::string typed = argument.substr(0, argument.find('='));
  const std::string nearest = nearest_name(typed, option         ? names_of_options(command)
                                                  : command_name ? names_of_commands(program)
                                                                 : std::vector<std::string>{});
  // A typical mistake is `--stacks user` instead of `--stacks=user`. The option's value is optional, so it is accepted
  // only after "=".
  const Option* const words = command.find("COMMAND");
  if (command.has("--stacks") && words != nullptr && !words->given.empty())
    if (const std::string& first = words->given.front(); first == "kernel" || first == "user" || first == "both")
      return error.hint(fmt::format("Write --stacks={}", first));
  const std::string see = fmt::format("`{} -h` lists the valid names", full_name(program, command));
  error.hint(nearest.empty() ? see : fmt::format("Did you mean \"{}\"? {}", nearest, see));
  return error;
}

Error usage_error(const Command& program, const Command& command, const CLI::App& app, const CLI::ParseError& problem) {
  const std::vector<std::string> extra = app.remaining(true);
  if (!extra.empty() && dynamic_cast<const CLI::ExtrasError*>(&problem))
    return unexpected_argument(program, command, unmarked(extra.front()));
  const bool lacks_value = dynamic_cast<const CLI::ArgumentMismatch*>(&problem) != nullptr;
  std::string what = problem.what();
  if (dynamic_cast<const CLI::ExcludesError*>(&problem))
    what =
        fmt::format("{} cannot be combined with {}", what.substr(0, what.find(' ')), what.substr(what.rfind(' ') + 1));
  const std::string name = what.substr(0, what.find(':'));
  const Option* const option = lacks_value ? command.find(name) : nullptr;
  const char* const lacks = option != nullptr && option->rules.values > 1 ? " takes two values"
                            : what.find("received") != std::string::npos  ? " is given more than once"
                                                                          : " needs a value";
  return Error(lacks_value ? name + lacks : what)
      .hint(fmt::format("`{} -h` shows the usage", full_name(program, command)));
}

// Moves the words after `--` from `arguments` to the command. Does nothing if the command has no such words. CLI11
// would confuse them with the arguments before `--`.
void take_words_after_dashes(const Command& program, std::vector<std::string>& arguments) {
  const Command* const command = arguments.empty() ? nullptr : program.command(arguments.front());
  if (command == nullptr || command->words_after_dashes == nullptr) return;
  const auto mark = std::ranges::find(arguments, "--");
  if (mark == arguments.end()) return;
  command->words_after_dashes->assign(mark + 1, arguments.end());
  arguments.erase(mark, arguments.end());
}

}  // namespace

ParsedLine parse_command_line(Command& program, std::vector<std::string> arguments) {
  // Without this check, CLI11 would show the help of the program for an unknown command that is followed by -h.
  if (!program.commands.empty() && !arguments.empty() && !arguments.front().starts_with('-') &&
      program.command(arguments.front()) == nullptr)
    throw unexpected_argument(program, program, arguments.front());
  take_words_after_dashes(program, arguments);

  CLI::App app(program.description, program.name);
  app.set_help_flag("-h");
  app.set_help_all_flag("--help");
  app.set_version_flag("--version", "");
  // allow at most one command, because a later argument may be a file with the name of a command
  app.require_subcommand(0, 1);
  std::vector<Parser> parsers = {parser_of(program, app)};
  for (Command& command : program.commands)
    parsers.push_back(parser_of(command, *app.add_subcommand(command.name, command.description)));

  ParsedLine line;
  const auto take_result = [&] {
    const auto commands = app.get_subcommands();
    const CLI::App* const selected = commands.empty() ? &app : commands.front();
    Parser& parser = *std::ranges::find(parsers, selected, &Parser::app);
    take_given(parser);
    line.command = parser.command;
  };
  std::ranges::transform(arguments, arguments.begin(), marked);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 reads the arguments in reverse order
  try {
    app.parse(arguments);
  } catch (const CLI::CallForVersion&) {
    line.wanted = Wanted::version;
  } catch (const CLI::CallForHelp&) {
    line.wanted = Wanted::help;
  } catch (const CLI::CallForAllHelp&) {
    line.wanted = Wanted::long_help;
  } catch (const CLI::ParseError& problem) {
    take_result();
    throw usage_error(program, *line.command, app, problem);
  }
  take_result();
  return line;
}

}  // namespace kmt
