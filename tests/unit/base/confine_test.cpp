// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the rights of a confined process. Uses child processes, because confinement cannot be undone.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/confinement/confine.hpp"
#include "base/temporary_folder.hpp"

namespace kmt {
namespace {

namespace fs = std::filesystem;

constexpr int kNoLandlock = 77;
alignas(16) std::array<char, 16384> g_stack;

class Confine : public ::testing::Test {
 protected:
  Confine() {
    for (const char* const folder : {"in", "out", "scratch", "elsewhere"}) fs::create_directories(folder_ / folder);
    for (const char* const file : {"in/trace", "out/result", "out/other", "elsewhere/old"})
      ::close(::open((folder_ / file).c_str(), O_CREAT | O_WRONLY, 0600));
  }

  // Returns the result of `attempt` in a confined child that may read in/trace, write out/result, and use scratch/.
  template <typename Attempt>
  int confined(Attempt&& attempt) {
    const pid_t child = ::fork();
    if (child == 0) {
      const Access access{.read = {folder_ / "in" / "trace", folder_ / "gone"},
                          .written_files = {folder_ / "out" / "result"},
                          .written_folders = {folder_ / "scratch"}};
      if (!confine(access, Network::none)) ::_exit(kNoLandlock);
      ::_exit(attempt());
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  // Returns the errno of a call that a confined child makes.
  template <typename Call>
  int errno_of(Call&& call) {
    return confined([&] { return call() >= 0 ? 0 : errno; });
  }

  int open_errno(const std::string& name, int flags) {
    return errno_of([&] { return ::open((folder_ / name).c_str(), flags, 0600); });
  }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

#define SKIP_WITHOUT_LANDLOCK() \
  if (confined([] { return 0; }) == kNoLandlock) GTEST_SKIP() << "this kernel has no Landlock"

TEST_F(Confine, AllowsTheGivenFiles) {
  SKIP_WITHOUT_LANDLOCK();
  EXPECT_EQ(open_errno("in/trace", O_RDONLY), 0);
  EXPECT_EQ(open_errno("out/result", O_RDWR | O_TRUNC), 0);
  EXPECT_EQ(open_errno("scratch/new", O_RDWR | O_CREAT), 0);
  EXPECT_EQ(open_errno("scratch", O_RDWR | O_TMPFILE), 0);
  EXPECT_EQ(errno_of([&] { return ::unlink((folder_ / "scratch/new").c_str()); }), 0);
}

TEST_F(Confine, RefusesToReadOtherFiles) {
  SKIP_WITHOUT_LANDLOCK();
  for (const char* const name : {"in", "out/other", "out", "elsewhere/old", "elsewhere"})
    EXPECT_EQ(open_errno(name, O_RDONLY), EACCES) << name;
  EXPECT_EQ(errno_of([] { return ::open("/etc/passwd", O_RDONLY); }), EACCES);
}

TEST_F(Confine, RefusesToChangeOtherFiles) {
  SKIP_WITHOUT_LANDLOCK();
  const std::string old = folder_ / "elsewhere/old", result = folder_ / "out/result", other = folder_ / "out/other";
  for (const char* const name : {"in/trace", "out/other", "elsewhere/old"})
    EXPECT_EQ(open_errno(name, O_WRONLY), EACCES) << name;
  for (const char* const name : {"in/new", "out/new", "elsewhere/new"})
    EXPECT_EQ(open_errno(name, O_WRONLY | O_CREAT), EACCES) << name;
  EXPECT_EQ(errno_of([&] { return ::unlink(old.c_str()); }), EACCES);
  EXPECT_EQ(errno_of([&] { return ::unlink(result.c_str()); }), EACCES);
  EXPECT_EQ(errno_of([&] { return ::rename(result.c_str(), other.c_str()); }), EACCES);
  EXPECT_EQ(errno_of([&] { return ::link(result.c_str(), (other + "2").c_str()); }), EACCES);
  EXPECT_EQ(errno_of([&] { return ::symlink("x", (other + "2").c_str()); }), EACCES);
  EXPECT_EQ(errno_of([&] { return ::mkdir((other + "2").c_str(), 0700); }), EACCES);
  EXPECT_EQ(errno_of([&] { return ::truncate(old.c_str(), 0); }), EPERM);
  EXPECT_EQ(errno_of([&] { return ::chmod(old.c_str(), 0777); }), EPERM);
  EXPECT_EQ(errno_of([&] { return ::chown(old.c_str(), 1, 1); }), EPERM);
  EXPECT_EQ(errno_of([&] { return ::utimensat(AT_FDCWD, old.c_str(), nullptr, 0); }), EPERM);
  EXPECT_EQ(errno_of([&] { return ::setxattr(old.c_str(), "user.x", "", 0, 0); }), EPERM);
  EXPECT_EQ(errno_of([&] { return ::fchmod(::open((folder_ / "in/trace").c_str(), O_RDONLY), 0777); }), EPERM);
  EXPECT_TRUE(fs::exists(old));
}

TEST_F(Confine, RefusesToTruncateInputs) {
  SKIP_WITHOUT_LANDLOCK();
  EXPECT_EQ(open_errno("in/trace", O_RDONLY | O_TRUNC), EPERM);
}

TEST_F(Confine, RefusesTerminalInput) {
  SKIP_WITHOUT_LANDLOCK();
  EXPECT_EQ(errno_of([] { return ::ioctl(0, TIOCSTI, "x"); }), EPERM);
  EXPECT_EQ(errno_of([&] {
              const long flags = FS_IMMUTABLE_FL;
              return ::ioctl(::open((folder_ / "in/trace").c_str(), O_RDONLY), FS_IOC_SETFLAGS, &flags);
            }),
            EPERM);
}

TEST_F(Confine, RefusesToStartPrograms) {
  SKIP_WITHOUT_LANDLOCK();
  EXPECT_EQ(errno_of([] { return ::execl("/bin/true", "true", nullptr); }), EPERM);
  EXPECT_EQ(errno_of([] {
              const int memory = ::memfd_create("program", 0);
              return ::syscall(SYS_execveat, memory, "", nullptr, nullptr, AT_EMPTY_PATH);
            }),
            EPERM);
}

TEST_F(Confine, RefusesAccessToOtherProcesses) {
  SKIP_WITHOUT_LANDLOCK();
  EXPECT_EQ(errno_of([] { return ::socket(AF_INET, SOCK_STREAM, 0); }), EPERM);
  EXPECT_EQ(errno_of([] { return ::socket(AF_UNIX, SOCK_STREAM, 0); }), EPERM);
  EXPECT_EQ(errno_of([] { return ::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr); }), EPERM);
  EXPECT_EQ(errno_of([] { return ::kill(::getppid(), 0); }), EPERM);
  EXPECT_EQ(errno_of([] { return ::unshare(CLONE_NEWUSER); }), EPERM);
  EXPECT_EQ(errno_of([] { return ::clone([](void*) { return 0; }, g_stack.end(), CLONE_NEWUSER, nullptr); }), EPERM);
  EXPECT_EQ(confined([] {
              std::thread([] {}).join();
              return 0;
            }),
            0);
}

}  // namespace
}  // namespace kmt
