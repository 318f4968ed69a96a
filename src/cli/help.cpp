// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/help.hpp"

#include <algorithm>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"

namespace kmt {

namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kLongestTerm = 26;  // in characters; the meaning of a longer term starts on the next line

// Wraps the words of a line at `width`. Indents the first line by `indent` blanks and the others by `hang`.
std::string wrapped_line(std::string_view line, std::size_t indent, std::size_t hang, std::size_t width) {
  std::string out(indent, ' ');
  std::size_t used = indent;
  bool fresh = true;
  for (const std::string_view word : split(line, ' ')) {
    if (!fresh && used + 1 + word.size() > width && !word.empty()) {
      out.erase(out.find_last_not_of(' ') + 1);
      out.append(1, '\n').append(hang, ' ');
      used = hang;
    } else if (!fresh) {
      out += ' ';
      ++used;
    }
    fresh = false;
    out += word;
    used += word.size();
  }
  return out + "\n";
}

// Returns the column where the meaning starts in a line "  term   meaning". If the line has no meaning, returns the
// column of the first word.
std::size_t second_column(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first == std::string_view::npos) return 0;
  const std::size_t gap = line.find("  ", first);
  return gap == std::string_view::npos ? first : std::min(line.find_first_not_of(' ', gap), line.size());
}

// Wraps each line of the text separately, with an indent of `indent` blanks. If a line starts with a blank, the wrapped
// rest of the line starts at the column of its meaning.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  for (const std::string_view line : split(text, '\n'))
    out += wrapped_line(line, indent, indent + (line.starts_with(' ') ? second_column(line) : 0), width);
  return out;
}

// Joins the lines of each paragraph, because line breaks in the source have no meaning.
std::string joined_paragraphs(std::string_view text) {
  std::string out;
  bool open = false;  // true if the next line may continue the previous line
  for (const std::string_view line : split(text, '\n')) {
    const bool words = !line.empty() && line.front() != ' ';
    if (!out.empty()) out += open && words ? ' ' : '\n';
    out += line;
    open = words;
  }
  return out;
}

// Formats a term and its meaning. The meaning is a wrapped paragraph that starts at `column`.
std::string entry(const std::string& term, std::string_view meaning, std::size_t column, std::size_t width) {
  std::string text = wrapped(meaning, column, width);
  std::string head = std::string(kIndent, ' ') + term;
  if (head.size() + kIndent > column) return head + "\n" + text;
  text.replace(0, head.size(), head);
  return text;
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

std::string term_of(const Option& option) {
  if (option.is_argument()) return option.spec;
  std::string term;
  for (const std::string& name : option.names())
    term += term.empty() ? (name.starts_with("--") ? "    " + name : name) : ", " + name;
  if (!option.rules.flag_value.empty()) return fmt::format("{}[={}]", term, option.rules.flag_value);
  if (option.rules.may_lack_value) return fmt::format("{} [{}]", term, option.value);
  return option.is_flag() ? term : term + " " + option.value;
}

std::string usage(const Command& command, const std::string& name) {
  if (!command.commands.empty()) return name + " COMMAND [OPTION…]";
  std::string out = name + " [OPTION…]";
  for (const Option& option : command.options) {
    if (!option.is_argument()) continue;
    const bool takes_several = std::holds_alternative<std::vector<std::string>*>(option.target);
    const std::string place = takes_several ? option.spec + "…" : option.spec;
    out += option.rules.required ? " " + place : " [" + place + "]";
  }
  return out;
}

std::string list_commands(const Command& program, std::size_t width) {
  std::string out;
  for (const Command& command : program.commands) out += entry(command.name, command.description, 14, width);
  return out.empty() ? out : "\nCommands:\n" + out;
}

// Lists the arguments or the options. The flags -h and --help come last.
std::string list_options(const Command& command, bool arguments, bool is_long, std::size_t width) {
  std::vector<const Option*> shown;
  for (const Option& option : command.options)
    if (option.is_argument() == arguments) shown.push_back(&option);
  std::stable_partition(shown.begin(), shown.end(),
                        [](const Option* option) { return !option->has_name("-h") && !option->has_name("--help"); });
  std::size_t column = 0;
  for (const Option* const option : shown) {
    const std::size_t length = term_of(*option).size();
    if (length <= kLongestTerm) column = std::max(column, length);
  }
  column += 2 * kIndent;
  std::string out;
  for (const Option* const option : shown) {
    const std::string_view text = option->help;
    out += entry(term_of(*option), is_long ? text : first_line(text), column, width);
  }
  if (out.empty()) return out;
  return (arguments ? "\nArguments:\n" : "\nOptions:\n") + out;
}

}  // namespace

std::string help_text(const Command& program, const Command& command, bool is_long, unsigned width) {
  const bool is_program = &command == &program;
  const std::string name = is_program ? program.name : program.name + " " + command.name;
  const std::size_t columns = std::min(width, 100u);
  std::string out = wrapped(command.description, 0, columns);
  out += "\nUsage: " + usage(command, name) + "\n";
  out += list_commands(command, columns);
  out += list_options(command, true, is_long, columns);
  out += list_options(command, false, is_long, columns);
  if (is_long && command.footer.empty()) return out;
  if (is_long) return out + "\n" + wrapped(joined_paragraphs(command.footer), 0, columns);
  return out + fmt::format("\n`{} --help` shows more{}.\n", name,
                           is_program ? "; `kmemtrace COMMAND --help` explains a command" : "");
}

}  // namespace kmt
