// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <CLI/CLI.hpp>

namespace kmt {

// As those of cli/support/commands.hpp.
CLI::App* add_investigate_command(CLI::App& app, int& exit_code);

}  // namespace kmt
