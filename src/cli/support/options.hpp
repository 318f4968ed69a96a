// SPDX-License-Identifier: GPL-2.0-or-later
// Commands as tables of options. The parser of the command line (cli/command_line.hpp), help and completion read them.
//
// The description of a command is one sentence. `-h` shows the first line of an option's help, `--help` all of it and
// the footer: examples and exit status. In a footer, lines that start with a blank stay lines; others are joined to
// paragraphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kmt {

// The variable that gets the value; it must outlive the command.
using OptionTarget =
    std::variant<std::monostate, bool*, unsigned*, std::size_t*, double*, std::string*, std::optional<unsigned>*,
                 std::optional<std::string>*, std::vector<std::size_t>*, std::vector<std::string>*>;

struct OptionRange {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};
constexpr OptionRange kCounts{0, 1'000'000'000};

struct OptionRules {
  std::vector<std::string> words = {};                  // the value is one of these
  std::optional<OptionRange> range = {};                // the value is a number in it
  std::function<std::string(std::string&)> check = {};  // returns what is wrong with the value, and may change it
  bool required = false;
  bool repeats = false;  // may be given several times, each time with one value
  bool once = false;     // a flag that may not be given twice
  unsigned values = 1;   // number of its values
  bool may_be_empty = false;
  std::vector<std::string> needs = {};     // required other options
  std::vector<std::string> excludes = {};  // conflicting options
};

struct Option {
  std::string spec;  // "-o,--output"; "--no-color{false}" sets false; "FILE": an argument
  OptionTarget target;
  std::string value;  // its name in help; empty: a flag, or an argument
  std::string help;
  OptionRules rules;
  std::vector<std::string> given = {};  // its values on the command line; "true" of a flag

  bool is_argument() const { return !spec.starts_with('-'); }
  bool is_flag() const { return !is_argument() && value.empty(); }
  std::vector<std::string> names() const;  // "-o", "--output"; empty for an argument
  std::string title() const;               // its name in messages: "--output"
  bool has_name(std::string_view name) const;
};

struct Command {
  std::string name;
  std::string description;
  std::string footer;
  std::function<int(const Command&)> run;                  // returns the exit status; throws Error
  std::vector<std::string>* words_after_dashes = nullptr;  // gets the words after `--`
  std::vector<Command> commands = {};
  std::vector<Option> options = help_flags();
  std::vector<const Option*> order = {};  // options in the order of the command line

  void argument(std::string spec, OptionTarget target, std::string help, OptionRules rules = {});
  void option(std::string spec, OptionTarget target, std::string value, std::string help, OptionRules rules = {});
  void flag(std::string spec, OptionTarget target, std::string help, OptionRules rules = {});

  const Option* find(std::string_view name) const;  // null if there is none
  bool has(std::string_view name) const;            // whether the option was given
  const Command* command(std::string_view name) const;

 private:
  static std::vector<Option> help_flags();
};

}  // namespace kmt
