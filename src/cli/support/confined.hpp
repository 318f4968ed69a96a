// SPDX-License-Identifier: GPL-2.0-or-later
// Commands that only read traces are confined before they open one (base/confine.hpp), and no command keeps what only
// root may do and it need not (base/privileges.hpp). SECURITY.md has the lists.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace kmt {

// To be called once, when all commands are there: whichever is run will be confined before its work begins.
void confine_commands(CLI::App& app);

// To be called by a command that may watch the kernel too, where it is to read files only and before it opens one:
// confines it as the others. Outputs that are empty are none.
void confine_reading(std::vector<std::string> outputs);

// To be called where the kernel is watched, when nothing has to be loaded or mounted any more.
void keep_watching();

}  // namespace kmt
