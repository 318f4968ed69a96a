// SPDX-License-Identifier: GPL-2.0-or-later
// Tests which perf-PID.map files of generated code may be read, and what is read from them.
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary_folder.hpp"
#include "trace/code/made_code.hpp"

namespace kmt {
namespace {

class MadeCodeMap : public testing::Test {
 protected:
  MadeCodeMap() { std::ofstream(map_) << "1000 10 made\n"; }
  ~MadeCodeMap() override {
    for (const std::string& path : {map_, none_, other_}) ::unlink(path.c_str());
  }
  static std::string path(int number) { return made_code_map_path(10 * ::getpid() + number); }

  const std::string map_ = path(0), none_ = path(1), other_ = path(2);
};

TEST_F(MadeCodeMap, IsReadOnlyIfOwnedByTheProcessUser) {
  const FileDescriptor file = open_made_code_map(map_, {::geteuid()});
  ASSERT_TRUE(file);
  EXPECT_EQ(read_made_code_map(file), "1000 10 made\n");
  EXPECT_FALSE(open_made_code_map(map_, {::geteuid() + 1}));
  EXPECT_TRUE(open_made_code_map(map_, {::geteuid() + 1, ::geteuid()}));
  EXPECT_FALSE(open_made_code_map(none_, {::geteuid()}));
}

TEST_F(MadeCodeMap, MustNotBeALinkOrPipe) {
  ASSERT_EQ(::symlink(map_.c_str(), other_.c_str()), 0);
  EXPECT_FALSE(open_made_code_map(other_, {::geteuid()}));
  ASSERT_EQ(::unlink(other_.c_str()), 0);
  ASSERT_EQ(::mkfifo(other_.c_str(), 0600), 0);
  EXPECT_FALSE(open_made_code_map(other_, {::geteuid()}));
  ASSERT_EQ(::unlink(other_.c_str()), 0);
  ASSERT_EQ(::link(map_.c_str(), other_.c_str()), 0);
  EXPECT_FALSE(open_made_code_map(other_, {::geteuid()}));
}

TEST_F(MadeCodeMap, MustHaveTheNameOfAMap) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/map";
  std::ofstream(path) << "1000 10 made\n";
  EXPECT_FALSE(open_made_code_map(path, {::geteuid()}));
}

TEST_F(MadeCodeMap, IsRecognisedByItsName) {
  EXPECT_EQ(made_code_map_path(12), "/tmp/perf-12.map");
  EXPECT_TRUE(is_made_code_map("/tmp/perf-12.map"));
  for (const char* const other : {"/tmp/perf-.map", "/tmp/perf-1x.map", "/tmp/perf-12", "/x/tmp/perf-12.map"})
    EXPECT_FALSE(is_made_code_map(other)) << other;
}

}  // namespace
}  // namespace kmt
