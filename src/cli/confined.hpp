// SPDX-License-Identifier: GPL-2.0-or-later
// Commands that only read traces are confined before they open one (base/confine.hpp).
#pragma once

#include <CLI/CLI.hpp>

namespace kmt {

// To be called once, when all commands are there: whichever is run will be confined before its work begins.
void confine_offline_commands(CLI::App& app);

}  // namespace kmt
