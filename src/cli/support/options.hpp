// SPDX-License-Identifier: GPL-2.0-or-later
// Commands as tables of options. The parser of the command line (cli/command_line.hpp), the help and the completion use
// these tables.
//
// The description of a command is one sentence. `-h` shows only the first line of an option's help. `--help` shows all
// lines and the footer, which has examples and the exit status. Lines of a footer that start with a blank stay
// separate; other lines are joined to paragraphs.
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

// The variable that receives the value. The variable must outlive the command.
using OptionTarget =
    std::variant<std::monostate, bool*, unsigned*, std::size_t*, double*, std::string*, std::optional<unsigned>*,
                 std::optional<std::string>*, std::vector<std::size_t>*, std::vector<std::string>*>;

struct OptionRange {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};
constexpr OptionRange kCounts{0, 1'000'000'000};

struct OptionRules {
  std::vector<std::string> words = {};                  // allowed values; empty: all values
  std::optional<OptionRange> range = {};                // the value must be a number in this range
  std::function<std::string(std::string&)> check = {};  // returns an error text or "", and may change the value
  bool required = false;
  bool repeats = false;  // may be given several times, with one value each time
  bool once = false;     // a flag that may be given only once
  unsigned values = 1;   // number of values that the option needs
  bool may_be_empty = false;
  std::vector<std::string> needs = {};     // other options that are required
  std::vector<std::string> excludes = {};  // conflicting options
};

struct Option {
  std::string spec;  // "-o,--output", or "--no-color{false}", which sets false; "FILE" is an argument
  OptionTarget target;
  std::string value;  // name of the value in help; empty for flags and arguments
  std::string help;
  OptionRules rules;
  std::vector<std::string> given = {};  // values on the command line; "true" for a flag

  bool is_argument() const { return !spec.starts_with('-'); }
  bool is_flag() const { return !is_argument() && value.empty(); }
  std::vector<std::string> names() const;  // "-o", "--output"; empty for an argument
  std::string title() const;               // name in messages: "--output"
  bool has_name(std::string_view name) const;
};

struct Command {
  std::string name;
  std::string description;
  std::string footer;
  std::function<int(const Command&)> run;                  // returns the exit status; throws Error
  std::vector<std::string>* words_after_dashes = nullptr;  // receives the words after `--`
  std::vector<Command> commands = {};
  std::vector<Option> options = help_flags();
  std::vector<const Option*> order = {};  // options in the order of the command line

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
