// SPDX-License-Identifier: GPL-2.0-or-later
// The rights of a confined process, tried in children, because confinement cannot be undone.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.hpp"

namespace kmt {
namespace {

namespace fs = std::filesystem;

constexpr int kNoLandlock = 77;

class Confine : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::current_path() / "confine-XXXXXX").string();  // not where temporary files may be made
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    fs::create_directories(folder_ / "out");
    fs::create_directories(folder_ / "elsewhere");
    ::close(::open((folder_ / "elsewhere" / "old").c_str(), O_CREAT | O_WRONLY, 0600));
  }
  void TearDown() override { fs::remove_all(folder_); }

  // The result of `attempt` in a child that may write to out/ only.
  template <typename Attempt>
  int confined(Attempt&& attempt) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::setenv("TMPDIR", (folder_ / "out").c_str(), 1);  // this folder may lie in the usual one
      const std::string outputs[] = {folder_ / "out" / "result"};
      if (!confine(outputs, Network::none)) ::_exit(kNoLandlock);
      ::_exit(attempt());
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  int open_errno(const fs::path& path, int flags) {
    const int fd = ::open(path.c_str(), flags, 0600);
    return fd < 0 ? errno : 0;
  }

  fs::path folder_;
};

TEST_F(Confine, LeavesTheFolderOfTheOutput) {
  const int result = confined([&] {
    const fs::path unfinished = folder_ / "out" / "unfinished", finished = folder_ / "out" / "result";
    if (const int error = open_errno(unfinished, O_CREAT | O_WRONLY | O_TRUNC)) return error;
    return ::rename(unfinished.c_str(), finished.c_str()) == 0 ? 0 : errno;
  });
  if (result == kNoLandlock) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(fs::exists(folder_ / "out" / "result"));
}

TEST_F(Confine, KnowsAnOutputInTheWorkingDirectory) {
  const pid_t child = ::fork();
  if (child == 0) {
    fs::current_path(folder_ / "out");
    const std::string outputs[] = {"here"};
    if (!confine(outputs, Network::none)) ::_exit(kNoLandlock);
    ::_exit(open_errno("here", O_CREAT | O_WRONLY));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == kNoLandlock) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Confine, KeepsReading) {
  const int result = confined([&] { return open_errno(folder_ / "elsewhere" / "old", O_RDONLY); });
  if (result == kNoLandlock) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_EQ(result, 0);
}

TEST_F(Confine, RefusesToWriteElsewhere) {
  const int result = confined([&] { return open_errno(folder_ / "elsewhere" / "old", O_WRONLY); });
  if (result == kNoLandlock) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_EQ(result, EACCES);
  EXPECT_EQ(confined([&] { return open_errno(folder_ / "elsewhere" / "new", O_CREAT | O_WRONLY); }), EACCES);
  EXPECT_EQ(confined([&] { return ::unlink((folder_ / "elsewhere" / "old").c_str()) == 0 ? 0 : errno; }), EACCES);
  EXPECT_TRUE(fs::exists(folder_ / "elsewhere" / "old"));
}

TEST_F(Confine, RefusesToStartPrograms) {
  const int result = confined([] {
    ::execl("/bin/true", "true", nullptr);
    return errno;
  });
  if (result == kNoLandlock) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_EQ(result, EACCES);
}

TEST_F(Confine, OpensNoConnection) {
  const int result = confined([] {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(9);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
  });
  if (result == kNoLandlock) GTEST_SKIP() << "this kernel has no Landlock";
  if (result == ECONNREFUSED) GTEST_SKIP() << "this kernel's Landlock knows no network (before Linux 6.7)";
  EXPECT_EQ(result, EACCES);
}

}  // namespace
}  // namespace kmt
