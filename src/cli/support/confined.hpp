// SPDX-License-Identifier: GPL-2.0-or-later
// Confines commands that only read traces, before they open a trace (base/confinement/confine.hpp). If the user is
// root, also drops the capabilities that a command does not need (base/confinement/privileges.hpp). SECURITY.md has the
// lists.
#pragma once

#include <string>
#include <vector>

#include "cli/support/options.hpp"

namespace kmt {

// Confines this process to what a command needs. Call it with the parsed command before the command runs.
void confine_command(const Command& command);

// Confines a command that can also watch the kernel, but now only reads files. Call it before a file is opened. Empty
// outputs are ignored. The command may write any file in `written_folders`.
void confine_reading(const Command& command, const std::vector<std::string>& outputs,
                     const std::vector<std::string>& written_folders = {});

// Drops the rights that a command needs only at the start. Call it in a command that watches the kernel, when nothing
// more needs to be loaded or mounted.
void keep_watching();

}  // namespace kmt
