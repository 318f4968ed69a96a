// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace completion: scripts for shells, made from the commands' own options so that they cannot fall behind.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/output.hpp"

namespace kmt {

namespace {

constexpr const char* kCompletionFooter = R"(Examples:
  kmemtrace completion bash > /usr/share/bash-completion/completions/kmemtrace
  kmemtrace completion zsh > /usr/share/zsh/vendor-completions/_kmemtrace
  kmemtrace completion fish > /usr/share/fish/vendor_completions.d/kmemtrace.fish
  source <(kmemtrace completion bash)            for this shell only)";

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string option_words(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_snames()) words += " -" + name;
    for (const std::string& name : option->get_lnames()) words += " --" + name;
  }
  return words.empty() ? words : words.substr(1);
}

std::string command_words(const CLI::App& app) {
  std::string words;
  for (const CLI::App* command : commands_of(app)) words += (words.empty() ? "" : " ") + command->get_name();
  return words;
}

// A name of the program's own: not a line's other words.
bool is_name(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

// The names that help lists below an option, a line each: "  name   what it is".
std::vector<std::string> listed_names(const std::string& help) {
  std::vector<std::string> names;
  for (const std::string_view line : split(help, '\n')) {
    if (!line.starts_with("  ")) continue;
    const std::string_view name = line.substr(2, line.find(' ', 2) - 2);
    if (is_name(name) && std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  }
  return names;
}

// What one argument may be, where its whole help is that: "bash, zsh or fish".
std::vector<std::string> named_in_words(std::string help) {
  if (const std::size_t last = help.rfind(" or "); last != std::string::npos) help.replace(last, 4, ", ");
  std::vector<std::string> names;
  for (const std::string_view part : split(help, ',')) {
    const std::string_view name = part.starts_with(' ') ? part.substr(1) : part;
    if (!is_name(name)) return {};
    names.emplace_back(name);
  }
  return names.size() > 1 ? names : std::vector<std::string>();
}

// What an option is checked for, {a,b}, stands in its type.
std::vector<std::string> checked_names(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  std::vector<std::string> names;
  for (const std::string_view name : split(std::string_view(type).substr(begin + 1, end - begin - 1), ','))
    names.emplace_back(name);
  return names;
}

// What may follow an option; empty: any text, or a file. Columns are listed with one of the options that take them,
// keys of groups in the help of `report`, to which that of other commands points.
std::string value_words(const CLI::App& command, const CLI::Option& option) {
  std::vector<std::string> names = checked_names(option);
  if (names.empty()) names = listed_names(option.get_description());
  if (names.empty() && !option.nonpositional()) names = named_in_words(option.get_description());
  if (names.empty() && option.check_lname("sort"))
    if (const CLI::Option* const columns = command.get_option_no_throw("--columns"))
      names = listed_names(columns->get_description());
  const bool points = option.get_description().find("`kmemtrace ") != std::string::npos;
  if (names.empty() && option.check_lname("by") && points && command.get_parent() != nullptr)
    names = listed_names(command.get_parent()->get_subcommand("report")->get_option("--by")->get_description());
  return fmt::format("{}", fmt::join(names, " "));
}

// Of the first argument, as `fleet` asks for one.
std::string argument_words(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    if (!option->nonpositional()) return value_words(command, *option);
  return {};
}

std::string names_of(const CLI::Option& option, std::string_view between) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return fmt::format("{}", fmt::join(names, between));
}

// bash: a line of the case that tells what follows which option of which command.
std::string bash_values(const CLI::App& command) {
  std::string out;
  for (const CLI::Option* option : command.get_options()) {
    const std::string words = option->nonpositional() ? value_words(command, *option) : "";
    if (words.empty()) continue;
    const std::string start = command.get_name() + ":";
    out += fmt::format("    {}{}) values=\"{}\" ;;\n", start, names_of(*option, "|" + start), words);
  }
  if (const std::string words = argument_words(command); !words.empty())
    out += fmt::format("    {}:*) [[ $COMP_CWORD -eq 2 ]] && values=\"{}\" ;;\n", command.get_name(), words);
  return out;
}

// The programs of 2008, with the commands whose options they take.
constexpr std::pair<const char*, const char*> kOldNames[] = {
    {"kmemtrace_check", "check"}, {"kmemtrace-check", "check"}, {"kmemtrace-report", "report"}};

std::string old_names() {
  std::string names = "kmemtraced";
  for (const auto& [name, command] : kOldNames) names += fmt::format(" {}", name);
  return names;
}

std::string traced_options() {
  int ignored = 0;
  CLI::App app;
  add_kmemtraced_options(app, ignored);
  return option_words(app) + " --help";
}

std::string bash_script_of_old_names(const CLI::App& app) {
  std::string out = fmt::format(R"(_kmemtrace_2008() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=
  COMPREPLY=()
  case ${{1##*/}} in
    kmemtraced) words="{}" ;;
)",
                                traced_options());
  for (const auto& [name, command] : kOldNames)
    out += fmt::format("    {}) words=\"{}\" ;;\n", name, option_words(*app.get_subcommand(command)));
  return out + fmt::format(R"(  esac
  [[ $word == -* ]] && COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -o bashdefault -F _kmemtrace_2008 {}
)",
                           old_names());
}

std::string bash_script(const CLI::App& app) {
  std::string out = fmt::format(R"(# bash completion for kmemtrace
_kmemtrace() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words= values=
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "{} {}" -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}}:$before in
)",
                                command_words(app), option_words(app));
  for (const CLI::App* command : commands_of(app)) out += bash_values(*command);
  out += R"(  esac
  if [[ -n $values && $word != -* ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$word"))
    return
  fi
  case ${COMP_WORDS[1]} in
)";
  for (const CLI::App* command : commands_of(app))
    out += fmt::format("    {}) words=\"{}\" ;;\n", command->get_name(), option_words(*command));
  out += R"(  esac
  [[ $word == -* ]] && COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -o bashdefault -F _kmemtrace kmemtrace
)";
  return out + bash_script_of_old_names(app);
}

// In single quotes, with what _arguments and _describe take for their own syntax taken out.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, text.find('\n'))) {
    if (c == '\'')
      out += "'\\''";
    else if (c == '[' || c == ']' || c == ':')
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

std::string zsh_arguments(const CLI::App& command) {
  std::string out;
  for (const CLI::Option* option : command.get_options()) {
    std::vector<std::string> names;
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    const bool takes_value = option->get_items_expected_max() != 0;
    for (const std::string& name : names) {
      const std::string words = value_words(command, *option);
      const std::string value = words.empty() ? ":value:_files" : fmt::format(":value:({})", words);
      out +=
          fmt::format(" \\\n        '{}[{}]{}'", name, zsh_text(option->get_description()), takes_value ? value : "");
    }
  }
  return out;
}

std::string zsh_first_argument(const CLI::App& command) {
  const std::string words = argument_words(command);
  return words.empty() ? words : fmt::format(" \\\n        '1:what:({})'", words);
}

std::string zsh_script(const CLI::App& app) {
  std::string out = fmt::format("#compdef kmemtrace {}\n_kmemtrace() {{\n  case $service in\n", old_names());
  for (const auto& [name, command] : kOldNames)
    out += fmt::format("    {}) words=(kmemtrace {} \"${{(@)words[2,-1]}}\"); (( CURRENT++ )) ;;\n", name, command);
  out += "    kmemtraced) _arguments '-b[Ring buffer size]:size:' '-d[Duration]:time:'; return ;;\n  esac\n";
  out += "  local -a commands\n  commands=(\n";
  for (const CLI::App* command : commands_of(app))
    out += fmt::format("    '{}:{}'\n", command->get_name(), zsh_text(command->get_description()));
  out += R"(  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
)";
  for (const CLI::App* command : commands_of(app))
    out += fmt::format("    {})\n      _arguments{}{} \\\n        '*:file:_files' ;;\n", command->get_name(),
                       zsh_arguments(*command), zsh_first_argument(*command));
  out += fmt::format("  esac\n}}\ncompdef _kmemtrace kmemtrace {}\n", old_names());
  return out;
}

// In single quotes.
std::string fish_text(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, text.find('\n'))) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string fish_options(const CLI::App& command, const std::string& start) {
  std::string out;
  for (const CLI::Option* option : command.get_options()) {
    std::string names;
    for (const std::string& name : option->get_snames()) names += " -s " + name;
    for (const std::string& name : option->get_lnames()) names += " -l " + name;
    if (names.empty()) continue;  // FILE
    const std::string words = value_words(command, *option);
    std::string value;
    if (!words.empty())
      value = fmt::format(" -x -a '{}'", words);
    else if (option->get_items_expected_max() != 0)
      value = " -r";
    out += fmt::format("{}{}{} -d '{}'\n", start, names, value, fish_text(option->get_description()));
  }
  return out;
}

std::string fish_script(const CLI::App& app) {
  std::string out = "# fish completion for kmemtrace\n";
  for (const CLI::App* command : commands_of(app)) {
    out += fmt::format("complete -c kmemtrace -n __fish_use_subcommand -f -a {} -d '{}'\n", command->get_name(),
                       fish_text(command->get_description()));
    out += fish_options(*command,
                        fmt::format("complete -c kmemtrace -n '__fish_seen_subcommand_from {}'", command->get_name()));
    if (const std::string words = argument_words(*command); !words.empty())
      out += fmt::format("complete -c kmemtrace -n '__fish_seen_subcommand_from {}' -f -a '{}'\n", command->get_name(),
                         words);
  }
  out += fish_options(app, "complete -c kmemtrace -n __fish_use_subcommand");
  for (const auto& [name, command] : kOldNames)
    out += fish_options(*app.get_subcommand(command), fmt::format("complete -c {}", name));
  int ignored = 0;
  CLI::App traced;
  add_kmemtraced_options(traced, ignored);
  return out + fish_options(traced, "complete -c kmemtraced");
}

std::string script_for(const std::string& shell, const CLI::App& app) {
  if (shell == "bash") return bash_script(app);
  if (shell == "zsh") return zsh_script(app);
  if (shell == "fish") return fish_script(app);
  Error error(fmt::format("There is no completion for \"{}\"", shell));
  error.hint("Known shells are bash, zsh and fish");
  throw error;
}

}  // namespace

CLI::App* add_completion_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for bash, zsh or fish.");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  command->footer(kCompletionFooter);
  command->callback([shell, &app, &exit_code] {
    print_result(script_for(*shell, app));
    exit_code = 0;
  });
  return command;
}

}  // namespace kmt
