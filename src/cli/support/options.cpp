// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/options.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace kmt {

std::vector<std::string> Option::names() const {
  std::vector<std::string> names;
  if (is_argument()) return names;
  for (std::string_view name : split(spec, ',')) {
    if (name.starts_with('!')) name.remove_prefix(1);  // a leading '!' means that the flag clears its variable
    names.emplace_back(name.substr(0, name.find('{')));
  }
  return names;
}

std::string Option::title() const {
  const std::vector<std::string> all = names();
  if (all.empty()) return spec;
  const auto is_long = [](const std::string& name) { return name.starts_with("--"); };
  const auto found = std::ranges::find_if(all, is_long);
  return found == all.end() ? all.front() : *found;
}

bool Option::has_name(std::string_view name) const {
  if (is_argument()) return spec == name;
  const std::vector<std::string> all = names();
  return std::ranges::find(all, name) != all.end();
}

void Command::argument(std::string spec, OptionTarget target, std::string help, OptionRules rules) {
  options.push_back({std::move(spec), target, "", std::move(help), std::move(rules)});
}

void Command::option(std::string spec, OptionTarget target, std::string value, std::string help, OptionRules rules) {
  options.push_back({std::move(spec), target, std::move(value), std::move(help), std::move(rules)});
}

void Command::flag(std::string spec, OptionTarget target, std::string help, OptionRules rules) {
  options.push_back({std::move(spec), target, "", std::move(help), std::move(rules)});
}

const Option* Command::find(std::string_view wanted) const {
  const auto found = std::ranges::find_if(options, [&](const Option& option) { return option.has_name(wanted); });
  return found == options.end() ? nullptr : &*found;
}

bool Command::has(std::string_view wanted) const {
  const Option* const option = find(wanted);
  return option != nullptr && !option->given.empty();
}

const Command* Command::command(std::string_view wanted) const {
  const auto found = std::ranges::find(commands, wanted, &Command::name);
  return found == commands.end() ? nullptr : &*found;
}

std::vector<Option> Command::help_flags() {
  return {{"-h", {}, "", "Show short help", {}}, {"--help", {}, "", "Show long help", {}}};
}

}  // namespace kmt
