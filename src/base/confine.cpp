// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/confine.hpp"

#include <cstdint>
#include <filesystem>

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/output_file.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

// Rights of newer versions than the headers of distributions.
constexpr std::uint64_t kTruncate = 1u << 14;  // version 3, Linux 6.2
constexpr std::uint64_t kTcp = 0b11;           // version 4, Linux 6.7: LANDLOCK_ACCESS_NET_BIND_TCP, _CONNECT_TCP

// struct landlock_ruleset_attr of version 4; earlier ones know the first member only.
struct Ruleset {
  std::uint64_t files;
  std::uint64_t network;
};

constexpr std::uint64_t kWriteFile = LANDLOCK_ACCESS_FS_WRITE_FILE;
constexpr std::uint64_t kChangeFolder = LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                                        LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                        LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER;
constexpr std::uint64_t kNever = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                 LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                                 LANDLOCK_ACCESS_FS_MAKE_FIFO;

std::uint64_t known_to(long version) {
  std::uint64_t rights = kWriteFile | kChangeFolder | kNever;
  if (version < 2) rights &= ~std::uint64_t{LANDLOCK_ACCESS_FS_REFER};
  if (version >= 3) rights |= kTruncate;
  return rights;
}

void allow(int ruleset, const fs::path& path, std::uint64_t rights) {
  const FileDescriptor file(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (file.get() < 0) return;  // writing there will report the error
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return;
  if (!S_ISDIR(status.st_mode)) rights &= kWriteFile | kTruncate;
  const landlock_path_beneath_attr rule{.allowed_access = rights, .parent_fd = file.get()};
  if (::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
    throw system_error("Cannot confine writing", path.string());
}

}  // namespace

bool confine(std::span<const std::string> outputs, Network network) {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return false;
  const std::uint64_t rights = known_to(version);
  const Ruleset attributes{rights, version >= 4 && network == Network::none ? kTcp : 0};
  const std::size_t size = version >= 4 ? sizeof attributes : sizeof attributes.files;
  const FileDescriptor ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
  if (ruleset.get() < 0) throw system_error("Cannot make rules of Landlock", "");

  std::error_code code;
  const std::uint64_t writing = rights & ~kNever;
  for (const std::string& output : outputs) {
    if (open_number(output)) continue;  // an open file can be written
    const fs::path absolute = fs::absolute(output);
    const fs::path folder = fs::weakly_canonical(absolute.parent_path(), code);
    if (code) continue;
    const fs::path path = folder / absolute.filename();
    const fs::file_type type = fs::symlink_status(path, code).type();
    if (type != fs::file_type::symlink) allow(ruleset.get(), path, writing);  // a link gives way to the file
    if (type != fs::file_type::character && type != fs::file_type::block && type != fs::file_type::fifo)
      allow(ruleset.get(), folder, writing);
  }
  const fs::path temporary = fs::temp_directory_path(code);
  if (!code) allow(ruleset.get(), temporary, writing);

  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0)
    throw system_error("Cannot confine this process", "");
  return true;
}

}  // namespace kmt
