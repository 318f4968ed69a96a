// SPDX-License-Identifier: GPL-2.0-or-later
// Commands that only read traces are confined before they open one (base/confine.hpp), and no command keeps what only
// root may do and it need not (base/privileges.hpp). SECURITY.md has the lists.
#pragma once

#include <string>
#include <vector>

#include "cli/support/options.hpp"

namespace kmt {

// To be called with the parsed command before it runs.
void confine_command(const Command& command);

// To be called by a command that may watch the kernel too, where it is to read files only and before it opens one:
// confines it as the others. Outputs that are empty are none.
void confine_reading(std::vector<std::string> outputs);

// To be called where the kernel is watched, when nothing has to be loaded or mounted any more.
void keep_watching();

}  // namespace kmt
