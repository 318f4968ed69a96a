// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/new_file.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/folder.hpp"
#include "base/new_folder.hpp"
#include "base/temporary_folder.hpp"

namespace kmt {
namespace {

namespace fs = std::filesystem;

class NewFileTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(NewFileTest, AppearsWhenFinished) {
  NewFile file(path("a"));
  file.write("text");
  EXPECT_FALSE(fs::exists(path("a")));
  file.finish();
  EXPECT_EQ(read_file(path("a")), "text");
  EXPECT_EQ(files(), 1u);
}

TEST_F(NewFileTest, UnfinishedLeavesTheOlderFile) {
  write_new_file(path("a"), "old");
  { NewFile(path("a")).write("new"); }
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(NewFileTest, KeepsTheReplacedFile) {
  for (const char* const text : {"first", "second", "third"}) {
    NewFile file(path("a"), Replaced::kept);
    file.write(text);
    file.finish();
  }
  EXPECT_EQ(read_file(path("a")), "third");
  EXPECT_EQ(read_file(path("a.old")), "second");
  EXPECT_EQ(files(), 2u);
}

TEST_F(NewFileTest, PassesOnPermissions) {
  write_new_file(path("a"), "old");
  struct stat status {};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
  ASSERT_EQ(::chmod(path("a").c_str(), 0644), 0);
  write_new_file(path("a"), "new");
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0644u);
}

TEST_F(NewFileTest, ReplacesALinkButNotItsTarget) {
  write_new_file(path("target"), "target");
  fs::create_symlink("target", path("link"));
  write_new_file(path("link"), "new");
  EXPECT_FALSE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("target")), "target");
}

TEST_F(NewFileTest, ASignalLeavesNoFile) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGTERM, [](int) {
      remove_unfinished_files();
      ::_exit(7);
    });
    NewFile first(path("a"));
    NewFile second(path("b"));
    second.finish();
    ::raise(SIGTERM);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_TRUE(fs::exists(path("b")));
  EXPECT_EQ(files(), 1u);
}

TEST_F(NewFileTest, AChildLeavesTheFilesOfItsParent) {
  const NewFile file(path("a"));
  const pid_t child = ::fork();
  if (child == 0) {
    remove_unfinished_files();
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(fs::exists(file.unfinished()));
}

TEST_F(NewFileTest, RefusesAFolder) { EXPECT_THROW(NewFile(path(".")), Error); }

TEST_F(NewFileTest, FolderAppearsWhenFinished) {
  NewFolder folder(path("a"));
  write_new_file(folder.unfinished() + "/file", "text");
  EXPECT_FALSE(fs::exists(path("a")));
  folder.finish();
  EXPECT_EQ(read_file(path("a/file")), "text");
  EXPECT_EQ(files(), 1u);
}

TEST_F(NewFileTest, UnfinishedFolderIsRemoved) {
  {
    const NewFolder folder(path("above/a"));
    write_new_file(folder.unfinished() + "/file", "text");
  }
  EXPECT_EQ(names_in(path("above")), std::vector<std::string>{});
}

TEST_F(NewFileTest, FolderReplacesOnlyAnEmptyFolder) {
  fs::create_directory(path("a"));
  write_new_file(path("a/old"), "text");
  NewFolder folder(path("a"));
  EXPECT_THROW(folder.finish(), Error);
  EXPECT_EQ(read_file(path("a/old")), "text");
}

TEST_F(NewFileTest, FindsFilesInAllFolders) {
  fs::create_directories(path("a/b"));
  write_new_file(path("a/b/2"), "");
  write_new_file(path("a/1"), "");
  fs::create_directory_symlink(path("a"), path("a/link"));
  EXPECT_EQ(files_below(path("a")), (std::vector{path("a/1"), path("a/b/2")}));
  EXPECT_THROW(files_below(path("none")), Error);
}

}  // namespace
}  // namespace kmt
