// SPDX-License-Identifier: GPL-2.0-or-later
// Implements `kmemtrace completion`. The shell scripts are generated from the tables of options, so they are always up
// to date.
#include <algorithm>
#include <memory>
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

std::string option_words(const Command& command) {
  std::vector<std::string> words;
  for (const Option& option : command.options)
    for (const std::string& name : option.names()) words.push_back(name);
  return fmt::format("{}", fmt::join(words, " "));
}

std::string command_words(const Command& program) {
  std::string words;
  for (const Command& command : program.commands) words += (words.empty() ? "" : " ") + command.name;
  return words;
}

// True if the word can be a name defined by the program (lower case, digits, "-" and "_").
bool is_name(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

// Returns the names that the help of an option lists, one per line: "  name   meaning".
std::vector<std::string> listed_names(const std::string& help) {
  std::vector<std::string> names;
  for (const std::string_view line : split(help, '\n')) {
    if (!line.starts_with("  ")) continue;
    const std::string_view name = line.substr(2, line.find(' ', 2) - 2);
    if (is_name(name) && std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  }
  return names;
}

// Returns the values of an argument if its help consists only of a list of values: "bash, zsh or fish".
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

// Returns the values of an option, or an empty text if the value may be any text or a file. Some options have their
// values in the help of another option: columns are listed at --columns, and keys of groups in the help of `report`.
std::string value_words(const Command& program, const Command& command, const Option& option) {
  std::vector<std::string> names = option.rules.words;
  if (names.empty()) names = listed_names(option.help);
  if (names.empty() && option.is_argument()) names = named_in_words(option.help);
  if (names.empty() && option.has_name("--sort"))
    if (const Option* const columns = command.find("--columns")) names = listed_names(columns->help);
  const bool points = option.help.find("`kmemtrace ") != std::string::npos;
  if (names.empty() && option.has_name("--by") && points)
    names = listed_names(program.command("report")->find("--by")->help);
  return fmt::format("{}", fmt::join(names, " "));
}

// Returns the values of the first argument. Only `fleet` has an argument with fixed values.
std::string argument_words(const Command& program, const Command& command) {
  const auto argument = std::ranges::find_if(command.options, &Option::is_argument);
  return argument == command.options.end() ? "" : value_words(program, command, *argument);
}

// Returns the lines of the bash case statement that complete the values of a command's options.
std::string bash_values(const Command& program, const Command& command) {
  std::string out;
  for (const Option& option : command.options) {
    const std::string words = option.is_argument() ? "" : value_words(program, command, option);
    if (words.empty()) continue;
    const std::string start = command.name + ":";
    out += fmt::format("    {}{}) values=\"{}\" ;;\n", start, fmt::join(option.names(), "|" + start), words);
  }
  if (const std::string words = argument_words(program, command); !words.empty())
    out += fmt::format("    {}:*) [[ $COMP_CWORD -eq 2 ]] && values=\"{}\" ;;\n", command.name, words);
  return out;
}

// Maps each program name of 2008 to the command of kmemtrace that has the same options.
constexpr std::pair<const char*, const char*> kOldNames[] = {
    {"kmemtrace_check", "check"}, {"kmemtrace-check", "check"}, {"kmemtrace-report", "report"}};

std::string old_names() {
  std::string names = "kmemtraced";
  for (const auto& [name, command] : kOldNames) names += fmt::format(" {}", name);
  return names;
}

std::string bash_script_of_old_names(const Command& program) {
  std::string out = fmt::format(R"(_kmemtrace_2008() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=
  COMPREPLY=()
  case ${{1##*/}} in
    kmemtraced) words="{}" ;;
)",
                                option_words(kmemtraced_program()));
  for (const auto& [name, command] : kOldNames)
    out += fmt::format("    {}) words=\"{}\" ;;\n", name, option_words(*program.command(command)));
  return out + fmt::format(R"(  esac
  [[ $word == -* ]] && COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -o bashdefault -F _kmemtrace_2008 {}
)",
                           old_names());
}

std::string bash_script(const Command& program) {
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
                                command_words(program), option_words(program));
  for (const Command& command : program.commands) out += bash_values(program, command);
  out += R"(  esac
  if [[ -n $values && $word != -* ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$word"))
    return
  fi
  case ${COMP_WORDS[1]} in
)";
  for (const Command& command : program.commands)
    out += fmt::format("    {}) words=\"{}\" ;;\n", command.name, option_words(command));
  out += R"(  esac
  [[ $word == -* ]] && COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -o bashdefault -F _kmemtrace kmemtrace
)";
  return out + bash_script_of_old_names(program);
}

// Puts the text in single quotes for the shell. Removes characters that are syntax for _arguments and _describe of zsh.
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

std::string zsh_arguments(const Command& program, const Command& command) {
  std::string out;
  for (const Option& option : command.options) {
    const std::string words = value_words(program, command, option);
    const std::string value = words.empty() ? ":value:_files" : fmt::format(":value:({})", words);
    for (const std::string& name : option.names())
      out += fmt::format(" \\\n        '{}[{}]{}'", name, zsh_text(option.help), option.is_flag() ? "" : value);
  }
  return out;
}

std::string zsh_first_argument(const Command& program, const Command& command) {
  const std::string words = argument_words(program, command);
  return words.empty() ? words : fmt::format(" \\\n        '1:what:({})'", words);
}

std::string zsh_script(const Command& program) {
  std::string out = fmt::format("#compdef kmemtrace {}\n_kmemtrace() {{\n  case $service in\n", old_names());
  for (const auto& [name, command] : kOldNames)
    out += fmt::format("    {}) words=(kmemtrace {} \"${{(@)words[2,-1]}}\"); (( CURRENT++ )) ;;\n", name, command);
  out += "    kmemtraced) _arguments '-b[Ring buffer size]:size:' '-d[Duration]:time:'; return ;;\n  esac\n";
  out += "  local -a commands\n  commands=(\n";
  for (const Command& command : program.commands)
    out += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.description));
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
  for (const Command& command : program.commands)
    out += fmt::format("    {})\n      _arguments{}{} \\\n        '*:file:_files' ;;\n", command.name,
                       zsh_arguments(program, command), zsh_first_argument(program, command));
  out += fmt::format("  esac\n}}\ncompdef _kmemtrace kmemtrace {}\n", old_names());
  return out;
}

std::string fish_text(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, text.find('\n'))) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string fish_options(const Command& program, const Command& command, const std::string& start) {
  std::string out;
  for (const Option& option : command.options) {
    if (option.is_argument()) continue;
    std::string names;
    for (const std::string& name : option.names())
      names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    const std::string words = value_words(program, command, option);
    std::string value;
    if (!words.empty())
      value = fmt::format(" -x -a '{}'", words);
    else if (!option.is_flag())
      value = " -r";
    out += fmt::format("{}{}{} -d '{}'\n", start, names, value, fish_text(option.help));
  }
  return out;
}

std::string fish_script(const Command& program) {
  std::string out = "# fish completion for kmemtrace\n";
  for (const Command& command : program.commands) {
    out += fmt::format("complete -c kmemtrace -n __fish_use_subcommand -f -a {} -d '{}'\n", command.name,
                       fish_text(command.description));
    const std::string start = fmt::format("complete -c kmemtrace -n '__fish_seen_subcommand_from {}'", command.name);
    out += fish_options(program, command, start);
    if (const std::string words = argument_words(program, command); !words.empty())
      out += fmt::format("{} -f -a '{}'\n", start, words);
  }
  out += fish_options(program, program, "complete -c kmemtrace -n __fish_use_subcommand");
  for (const auto& [name, command] : kOldNames)
    out += fish_options(program, *program.command(command), fmt::format("complete -c {}", name));
  return out + fish_options(program, kmemtraced_program(), "complete -c kmemtraced");
}

std::string script_for(const Command& program, const std::string& shell) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  if (shell == "fish") return fish_script(program);
  throw Error(fmt::format("There is no completion for \"{}\"", shell)).hint("Known shells are bash, zsh and fish");
}

}  // namespace

Command completion_command(const Command& program) {
  const auto shell = std::make_shared<std::string>();
  Command command{"completion", "Print a completion script for bash, zsh or fish.", kCompletionFooter,
                  [shell, &program](const Command&) {
                    print_result(script_for(program, *shell));
                    return 0;
                  }};
  command.argument("SHELL", &*shell, "bash, zsh or fish", {.required = true});
  return command;
}

}  // namespace kmt
