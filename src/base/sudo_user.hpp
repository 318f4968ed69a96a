// SPDX-License-Identifier: GPL-2.0-or-later
// Under sudo, outputs belong to the calling user: $SUDO_UID and $SUDO_GID. Failing to give one away is no error.
#pragma once

#include <string>

namespace kmt {

void give_to_sudo_user(int fd);
// The regular files directly in the folder that belong to root, and the folder itself if it does.
void give_files_to_sudo_user(const std::string& folder);
// The same, with all folders below.
void give_tree_to_sudo_user(const std::string& folder);

}  // namespace kmt
