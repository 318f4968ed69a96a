// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/confined.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/confine.hpp"

namespace kmt {

namespace {

// They need neither the kernel nor another program.
constexpr std::array<std::string_view, 11> kOffline = {"check",      "report", "pages",   "leaks",  "timeline", "diff",
                                                       "flamegraph", "export", "convert", "repair", "simulate"};

// The options that name what a command writes.
constexpr std::array<const char*, 3> kOutputs = {"--output", "OUTPUT", "--html"};

std::vector<std::string> outputs_of(const CLI::App& command) {
  std::vector<std::string> outputs;
  const auto add = [&](const char* name) {
    if (const CLI::Option* const option = command.get_option_no_throw(name))
      for (const std::string& value : option->results()) outputs.push_back(value);
  };
  std::ranges::for_each(kOutputs, add);
  if (command.get_name() == "repair") add("FILE");  // in its place
  return outputs;
}

// Of `export --to clickhouse`.
bool goes_to_a_server(const CLI::App& command) {
  const CLI::Option* const to = command.get_option_no_throw("--to");
  return to != nullptr && to->count() > 0 && to->as<std::string>() == "clickhouse";
}

}  // namespace

void confine_offline_commands(CLI::App& app) {
  app.parse_complete_callback([&app] {
    for (const CLI::App* const command : app.get_subcommands())
      if (std::ranges::find(kOffline, command->get_name()) != kOffline.end())
        confine(outputs_of(*command), goes_to_a_server(*command) ? Network::as_before : Network::none);
  });
}

}  // namespace kmt
