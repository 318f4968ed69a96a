// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/sudo_user.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/number.hpp"

namespace kmt {

namespace {

struct User {
  uid_t id;
  gid_t group;
};

std::optional<User> sudo_user() {
  if (::geteuid() != 0) return std::nullopt;
  const char* const id = std::getenv("SUDO_UID");
  const char* const group = std::getenv("SUDO_GID");
  const auto ids = id ? parse_number<unsigned>(id) : std::nullopt;
  const auto groups = group ? parse_number<unsigned>(group) : std::nullopt;
  return ids && groups ? std::optional(User{*ids, *groups}) : std::nullopt;
}

void give(int fd, User user) { (void)!::fchown(fd, user.id, user.group); }

// Gives the files in a folder to the user. Another user may change the folder during the loop. Skip files with several
// names (hard links): a name may be a link that this user made to a file of root.
void give_folder(const std::string& folder, User user, bool with_folders) {
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const FileDescriptor opened(::open(folder.c_str(), kFlags | O_DIRECTORY));
  struct stat status {};
  if (!opened || ::fstat(opened.get(), &status) != 0) return;
  for (const std::string& name : names_in(folder)) {
    const FileDescriptor file(::openat(opened.get(), name.c_str(), kFlags));
    struct stat of_file {};
    if (!file || ::fstat(file.get(), &of_file) != 0 || of_file.st_uid != 0) continue;
    if (S_ISREG(of_file.st_mode) && of_file.st_nlink == 1) give(file.get(), user);
    if (S_ISDIR(of_file.st_mode) && with_folders) give_folder(std::filesystem::path(folder) / name, user, true);
  }
  if (status.st_uid == 0) give(opened.get(), user);
}

}  // namespace

void give_to_sudo_user(int fd) noexcept {
  if (const auto user = sudo_user()) give(fd, *user);
}

void give_files_to_sudo_user(const std::string& folder) {
  if (const auto user = sudo_user()) give_folder(folder, *user, false);
}

void give_tree_to_sudo_user(const std::string& folder) {
  if (const auto user = sudo_user()) give_folder(folder, *user, true);
}

}  // namespace kmt
