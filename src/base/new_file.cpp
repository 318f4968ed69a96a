// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/new_file.hpp"

#include <array>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/confinement/outside.hpp"
#include "base/error.hpp"
#include "base/output_file.hpp"
#include "base/sudo_user.hpp"

namespace kmt {

namespace {

// Names of unfinished files, which are removed if a signal ends the process. Only 16 files are listed here, and files
// beyond this number are not removed.
std::array<std::atomic<const char*>, 16> g_unfinished;
// The process that owns the files; a forked child has copies of the names, but must not remove the files.
std::atomic<pid_t> g_process = 0;
static_assert(std::atomic<const char*>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free);

// Gives the new file the owner and permissions of the replaced file. If the owner cannot be set, only the new file's
// owner gets access, because the old permissions were meant for another group.
void pass_on_owner(int fd, const struct stat& replaced) noexcept {
  const bool same_owner = ::fchown(fd, replaced.st_uid, replaced.st_gid) == 0;
  (void)::fchmod(fd, replaced.st_mode & (same_owner ? 0777u : 0700u));
}

bool keep_old_file(const std::string& path) {
  const std::string old = path + ".old";
  ::unlink(old.c_str());
  // Try link() first, because PATH then exists at every moment. File systems without hard links need rename().
  return ::link(path.c_str(), old.c_str()) == 0 || ::rename(path.c_str(), old.c_str()) == 0;
}

}  // namespace

std::atomic<const char*>* list_unfinished(const char* name) {
  g_process = ::getpid();
  for (auto& slot : g_unfinished) {
    const char* free = nullptr;
    if (slot.compare_exchange_strong(free, name)) return &slot;
  }
  return nullptr;
}

NamingStep give_name(const std::string& unfinished, const std::string& path, bool keep_old) {
  if (keep_old && !keep_old_file(path)) return NamingStep::keeping;
  return ::rename(unfinished.c_str(), path.c_str()) == 0 ? NamingStep::none : NamingStep::renaming;
}

Error naming_error(NamingStep failed, const std::string& path) {
  if (failed == NamingStep::keeping) return system_error("Cannot keep the earlier file under this name", path + ".old");
  return system_error("Cannot give the new output its name", path);
}

NewFile::NewFile(std::string path, Replaced replaced, std::string unfinished)
    : path_(std::move(path)), keeps_old_(replaced == Replaced::kept) {
  if (PreparedOutput* const prepared = take_prepared(PreparedOutput::Kind::file, path_)) {
    file_ = FileDescriptor(std::exchange(prepared->fd, -1));
    unfinished_ = prepared->unfinished;
    replaces_ = prepared->replaces;
    prepared_ = prepared;
    listed_ = prepared->listed;
    return;
  }
  if (const auto number = open_number(path_)) {
    file_ = FileDescriptor(::dup(*number));
    if (!file_) throw system_error("Cannot write", path_);
    return;
  }
  struct stat status {};
  replaces_ = ::lstat(path_.c_str(), &status) == 0 && !S_ISLNK(status.st_mode);
  if (replaces_ && S_ISDIR(status.st_mode)) throw Error("The output is a folder").at({path_, {}, {}});
  if (replaces_ && !S_ISREG(status.st_mode)) {
    file_ = open_file(path_, O_WRONLY | O_TRUNC | O_NOFOLLOW);
    return;
  }
  unfinished_ = unfinished.empty() ? unfinished_name(path_) : std::move(unfinished);
  // Register the file before it exists, because a signal may arrive right after open().
  listed_ = list_unfinished(unfinished_.c_str());
  file_ = FileDescriptor(::open(unfinished_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kPrivateFile));
  if (!file_) {
    if (listed_) *listed_ = nullptr;
    throw system_error("Cannot create a temporary file in this folder", path_).hint("Choose another path with -o");
  }
  if (replaces_)
    pass_on_owner(fd(), status);
  else
    give_to_sudo_user(fd());
}

NewFile::~NewFile() {
  if (prepared_ && !unfinished_.empty())
    remove_outside(*prepared_);
  else if (!unfinished_.empty())
    ::unlink(unfinished_.c_str());
  if (listed_) *listed_ = nullptr;
}

void NewFile::finish() {
  if (unfinished_.empty()) return;
  // Without fsync(), a machine that crashes now might keep neither the old file nor the new one.
  if (replaces_ && ::fsync(fd()) != 0) throw system_error("Cannot write", path_);
  const bool keep_old = replaces_ && keeps_old_;
  if (prepared_)
    name_outside(*prepared_);
  else if (const NamingStep failed = give_name(unfinished_, path_, keep_old); failed != NamingStep::none)
    throw naming_error(failed, path_);
  if (listed_) *std::exchange(listed_, nullptr) = nullptr;
  unfinished_.clear();
}

void NewFile::give_to(PreparedOutput& output) && {
  output.unfinished = unfinished_;
  output.fd = file_.release();
  output.replaces = replaces_;
  output.listed = std::exchange(listed_, nullptr);
  if (output.listed != nullptr) *output.listed = output.unfinished.c_str();
  unfinished_.clear();
}

void write_new_file(const std::string& path, std::string_view text) {
  NewFile file(path);
  file.write(text);
  file.finish();
}

void remove_unfinished_files() {
  end_outside();
  if (::getpid() != g_process) return;
  for (const auto& slot : g_unfinished)
    if (const char* const name = slot; name != nullptr && ::unlink(name) != 0) ::rmdir(name);
}

}  // namespace kmt
