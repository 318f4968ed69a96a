// SPDX-License-Identifier: GPL-2.0-or-later
// Describes commands as tables of options. Three parts of the program use these tables: the parser of the command line
// (cli/command_line.hpp), the help and the shell completion.
//
// The description of a command is one sentence. `-h` shows only the first line of an option's help. `--help` shows all
// lines, and then the footer with examples and the exit status. A line of the footer that starts with a blank stays a
// separate line. Other lines are joined into paragraphs.
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

// The variable that receives the value. The variable must outlive the command. std::size_t is unsigned or unsigned
// long.
using OptionTarget =
    std::variant<std::monostate, bool*, unsigned*, unsigned long*, double*, std::string*, std::optional<unsigned>*,
                 std::optional<std::string>*, std::vector<std::size_t>*, std::vector<std::string>*>;

struct OptionRange {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};
constexpr OptionRange kCounts{0, 1'000'000'000};

struct OptionRules {
  std::vector<std::string> words = {};    // allowed values; if empty, any value is allowed
  std::optional<OptionRange> range = {};  // if set, the value must be a number in this range
  // Checks the value and may change it. Returns an error text, or "" if the value is valid.
  std::function<std::string(std::string&)> check = {};
  bool required = false;
  bool repeats = false;  // true: the option may be given several times, each time with one value
  bool once = false;     // true: the flag may be given only once
  unsigned values = 1;   // number of values that must follow the option
  bool may_be_empty = false;
  bool may_lack_value = false;             // true: the option may be given without its value, which is then empty
  std::string flag_value = {};             // name of the value that a flag may have: "NAME" for --flag[=NAME]
  std::vector<std::string> needs = {};     // names of other options that must also be given
  std::vector<std::string> excludes = {};  // conflicting options
};

struct Option {
  // "-o,--output", or "--no-color{false}" for a flag that sets its target to false; "FILE" is an argument
  std::string spec;
  OptionTarget target;
  std::string value;  // name of the value in the help text; empty for flags and arguments
  std::string help;
  OptionRules rules;
  std::vector<std::string> given = {};  // values from the command line; for a flag, "true"

  bool is_argument() const { return !spec.starts_with('-'); }
  bool is_flag() const { return !is_argument() && value.empty(); }
  std::vector<std::string> names() const;  // returns "-o" and "--output"; empty for an argument
  std::string title() const;               // returns the name for messages: "--output"
  bool has_name(std::string_view name) const;
};

struct Command {
  std::string name;
  std::string description;
  std::string footer;
  std::function<int(const Command&)> run;                  // runs the command and returns its exit status; throws Error
  std::vector<std::string>* words_after_dashes = nullptr;  // if set, receives the words after `--`
  std::vector<Command> commands = {};
  std::vector<Option> options = help_flags();
  std::vector<const Option*> order = {};  // the options in the order in which the user gave them

  void argument(std::string spec, OptionTarget target, std::string help, OptionRules rules = {});
  void option(std::string spec, OptionTarget target, std::string value, std::string help, OptionRules rules = {});
  void flag(std::string spec, OptionTarget target, std::string help, OptionRules rules = {});

  const Option* find(std::string_view name) const;  // returns null if there is no such option
  bool has(std::string_view name) const;            // true if the option was given
  const Command* command(std::string_view name) const;

 private:
  static std::vector<Option> help_flags();
};

}  // namespace kmt
