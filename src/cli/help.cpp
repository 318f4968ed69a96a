// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/help.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"

namespace kmt {

namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kLongestTerm = 26;  // longer ones get a line of their own

// One line's words, on lines no longer than `width`: the first after `indent` blanks, the others after `hang`.
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

// Where the second column of "  term   meaning" starts; the first word where there is only one.
std::size_t second_column(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first == std::string_view::npos) return 0;
  const std::size_t gap = line.find("  ", first);
  return gap == std::string_view::npos ? first : std::min(line.find_first_not_of(' ', gap), line.size());
}

// Each line of the text wrapped by itself after `indent` blanks; one that starts with a blank hangs at its second
// column.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  for (const std::string_view line : split(text, '\n'))
    out += wrapped_line(line, indent, indent + (line.starts_with(' ') ? second_column(line) : 0), width);
  return out;
}

// Lines of a paragraph that were broken in the source become one.
std::string joined_paragraphs(std::string_view text) {
  std::string out;
  bool open = false;  // the last line may go on
  for (const std::string_view line : split(text, '\n')) {
    const bool words = !line.empty() && line.front() != ' ';
    if (!out.empty()) out += open && words ? ' ' : '\n';
    out += line;
    open = words;
  }
  return out;
}

// A term and what it means, as a hanging paragraph at `column`.
std::string entry(const std::string& term, std::string_view meaning, std::size_t column, std::size_t width) {
  std::string text = wrapped(meaning, column, width);
  std::string head = std::string(kIndent, ' ') + term;
  if (head.size() + kIndent > column) return head + "\n" + text;
  text.replace(0, head.size(), head);
  return text;
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

// Without what a validator appends: "N:{6,7}".
std::string type_of(const CLI::Option& option) {
  const std::string name = option.get_type_name();
  return name.substr(0, name.find(':'));
}

std::string term_of(const CLI::Option& option) {
  if (option.get_positional() && !option.nonpositional()) return option.get_name(true);
  std::string term;
  for (const std::string& name : option.get_snames()) term += (term.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) term += (term.empty() ? "    --" : ", --") + name;
  if (option.get_items_expected_max() != 0)
    term += " " + (option.get_option_text().empty() ? type_of(option) : option.get_option_text());
  return term;
}

class HelpFormatter : public CLI::FormatterBase {
 public:
  explicit HelpFormatter(unsigned width) : width_(std::min(width, 100u)) {}

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    const bool all = mode == CLI::AppFormatMode::All;
    std::string out = wrapped(app->get_description(), 0, width_);
    out += "\nUsage: " + usage(*app, name) + "\n";
    out += commands(*app);
    out += options(*app, true, all);
    out += options(*app, false, all);
    if (all && !app->get_footer().empty()) out += "\n" + wrapped(joined_paragraphs(app->get_footer()), 0, width_);
    if (!all)
      out += fmt::format("\n`{} --help` tells more{}.\n", name,
                         app->get_parent() ? "" : ", `kmemtrace COMMAND --help` about a command");
    return out;
  }

 private:
  static std::string usage(const CLI::App& app, const std::string& name) {
    std::string out = name;
    if (!app.get_subcommands([](const CLI::App*) { return true; }).empty()) return out + " COMMAND [OPTION…]";
    out += " [OPTION…]";
    for (const CLI::Option* option : app.get_options()) {
      if (!option->get_positional() || option->nonpositional()) continue;
      std::string place = option->get_name(true);
      if (option->get_items_expected_max() > 1) place += "…";
      out += option->get_required() ? " " + place : " [" + place + "]";
    }
    return out;
  }

  std::string commands(const CLI::App& app) const {
    std::string out;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
      out += entry(command->get_name(), command->get_description(), 14, width_);
    return out.empty() ? out : "\nCommands:\n" + out;
  }

  // Positional arguments or options; the help flags come last, as they were not added first by the reader's interest.
  std::string options(const CLI::App& app, bool positional, bool all) const {
    std::vector<const CLI::Option*> shown;
    for (const CLI::Option* option : app.get_options())
      if ((option->get_positional() && !option->nonpositional()) == positional && !option->get_group().empty())
        shown.push_back(option);
    std::stable_partition(shown.begin(), shown.end(), [&app](const CLI::Option* option) {
      return option != app.get_help_ptr() && option != app.get_help_all_ptr();
    });
    std::size_t column = 0;
    for (const CLI::Option* option : shown) {
      const std::size_t length = term_of(*option).size();
      if (length <= kLongestTerm) column = std::max(column, length);
    }
    column += 2 * kIndent;
    std::string out;
    for (const CLI::Option* option : shown) {
      const std::string& text = option->get_description();
      out += entry(term_of(*option), all ? std::string_view(text) : first_line(text), column, width_);
    }
    if (out.empty()) return out;
    return (positional ? "\nArguments:\n" : "\nOptions:\n") + out;
  }

  std::size_t width_;
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter(unsigned width) { return std::make_shared<HelpFormatter>(width); }

std::string option_name(const CLI::Option& option) {
  if (!option.get_lnames().empty()) return "--" + option.get_lnames().front();
  if (!option.get_snames().empty()) return "-" + option.get_snames().front();
  return option.get_name(true);
}

}  // namespace kmt
