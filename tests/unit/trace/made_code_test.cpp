// SPDX-License-Identifier: GPL-2.0-or-later
// The maps of made code that are read, and which files they may be.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/code/made_code.hpp"

namespace kmt {
namespace {

class MadeCodeMap : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/kmemtrace-made-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
    std::ofstream(path("map")) << "1000 10 made\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return folder_ + "/" + name; }

  std::string folder_;
};

TEST_F(MadeCodeMap, IsReadWhereItIsItsUsers) {
  const FileDescriptor file = open_made_code_map(path("map"), {::geteuid()});
  ASSERT_TRUE(file);
  EXPECT_EQ(read_made_code_map(file), "1000 10 made\n");
  EXPECT_FALSE(open_made_code_map(path("map"), {::geteuid() + 1}));
  EXPECT_TRUE(open_made_code_map(path("map"), {::geteuid() + 1, ::geteuid()}));
  EXPECT_FALSE(open_made_code_map(path("none"), {::geteuid()}));
}

TEST_F(MadeCodeMap, IsNoLinkAndNoPipe) {
  ASSERT_EQ(::symlink(path("map").c_str(), path("symlink").c_str()), 0);
  EXPECT_FALSE(open_made_code_map(path("symlink"), {::geteuid()}));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(open_made_code_map(path("pipe"), {::geteuid()}));
  ASSERT_EQ(::link(path("map").c_str(), path("link").c_str()), 0);
  EXPECT_FALSE(open_made_code_map(path("link"), {::geteuid()}));
}

TEST_F(MadeCodeMap, IsKnownByItsName) {
  EXPECT_EQ(made_code_map_path(12), "/tmp/perf-12.map");
  EXPECT_TRUE(is_made_code_map("/tmp/perf-12.map"));
  for (const char* const other : {"/tmp/perf-.map", "/tmp/perf-1x.map", "/tmp/perf-12", "/x/tmp/perf-12.map"})
    EXPECT_FALSE(is_made_code_map(other)) << other;
}

}  // namespace
}  // namespace kmt
