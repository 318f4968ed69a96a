// SPDX-License-Identifier: GPL-2.0-or-later
// Gives outputs to the calling user of sudo ($SUDO_UID and $SUDO_GID). Failures are ignored.
#pragma once

#include <string>

namespace kmt {

void give_to_sudo_user(int fd) noexcept;
// Changes the owner of root's regular files directly in the folder, and of the folder itself if root owns it.
void give_files_to_sudo_user(const std::string& folder);
// Does the same as give_files_to_sudo_user(), but also for all subfolders.
void give_tree_to_sudo_user(const std::string& folder);

}  // namespace kmt
