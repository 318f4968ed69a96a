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

// The words of a paragraph on lines no longer than `width`, each after `indent` blanks. A line that starts with a
// blank is kept as it is written.
std::string wrapped(std::string_view paragraph, std::size_t indent, std::size_t width) {
  std::string out;
  for (const std::string_view line : split(paragraph, '\n')) {
    if (line.starts_with(' ')) {
      out += fmt::format("{:{}}{}\n", "", indent, line);
      continue;
    }
    std::size_t used = 0;
    for (const std::string_view word : split(line, ' ')) {
      if (used > 0 && indent + used + 1 + word.size() > width) {
        out += '\n';
        used = 0;
      }
      out += used == 0 ? std::string(indent, ' ') : " ";
      used += word.size() + (used == 0 ? 0 : 1);
      out += word;
    }
    out += '\n';
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

std::string term_of(const CLI::Option& option) {
  if (option.get_positional() && !option.nonpositional()) return option.get_name(true);
  std::string term;
  for (const std::string& name : option.get_snames()) term += (term.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) term += (term.empty() ? "    --" : ", --") + name;
  if (option.get_type_size() != 0)
    term += " " + (option.get_option_text().empty() ? option.get_type_name() : option.get_option_text());
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
    if (all && !app->get_footer().empty()) out += "\n" + app->get_footer() + "\n";
    if (!all)
      out += fmt::format("\n`{} --help` tells more{}.\n", name,
                         app->get_parent() ? "" : ", `NAME --help` about a command");
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
