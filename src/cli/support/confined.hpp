// SPDX-License-Identifier: GPL-2.0-or-later
// Confines commands that only read traces before they open one (base/confinement/confine.hpp), and drops root's
// capabilities that a command does not need (base/confinement/privileges.hpp). SECURITY.md has the lists.
#pragma once

#include <string>
#include <vector>

#include "cli/support/options.hpp"

namespace kmt {

// Call it with the parsed command before it runs.
void confine_command(const Command& command);

// For commands that may also watch the kernel, when they only read files: call it before opening one. Empty outputs are
// ignored. In the folders, they may write any file.
void confine_reading(const Command& command, const std::vector<std::string>& outputs,
                     const std::vector<std::string>& written_folders = {});

// For commands that watch the kernel: call it when nothing remains to be loaded or mounted.
void keep_watching();

}  // namespace kmt
