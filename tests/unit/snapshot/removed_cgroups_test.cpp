// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "snapshot/read_limited.hpp"

namespace kmt {
namespace {

constexpr std::string_view kProcCgroups =
    "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t2\t9\t1\nmemory\t4\t71\t1\n";

// Returns the text that is added if there are five cgroups.
std::string removed(std::string_view proc_cgroups, Reading cgroups, bool is_topmost = true,
                    std::chrono::steady_clock::duration time = std::chrono::hours(1)) {
  const std::string root = testing::TempDir() + "/removed_cgroups";
  std::filesystem::remove_all(root);
  for (const char* const name : {"/a/b/c", "/d"}) std::filesystem::create_directories(root + name);
  if (is_topmost) std::ofstream(root + "/release_agent").put('\n');
  add_removed_of_v1(root, proc_cgroups, std::chrono::steady_clock::now() + time, cgroups);
  std::filesystem::remove_all(root);
  return cgroups.text;
}

TEST(RemovedCgroups, AreTheMemoryCgroupsWithoutAFolder) {
  EXPECT_EQ(removed(kProcCgroups, {}), "/cgroup.stat:nr_dying_descendants 66\n");
  EXPECT_EQ(removed("memory\t4\t4\t1\n", {}), "/cgroup.stat:nr_dying_descendants 0\n") << "one was just made";
}

TEST(RemovedCgroups, AreUnknownIfNotAllCgroupsAreVisible) {
  EXPECT_EQ(removed(kProcCgroups, {}, false), "") << "a container, or version 2";
  EXPECT_EQ(removed(kProcCgroups, {.cut = kTooSlow}), "");
  EXPECT_EQ(removed(kProcCgroups, {.refused = 1}), "");
  EXPECT_EQ(removed("memory\t4\tx\t1\n", {}), "");
  EXPECT_EQ(removed("", {}), "");
  EXPECT_EQ(removed(kProcCgroups, {}, true, {}), "") << "counting them takes too long";
}

}  // namespace
}  // namespace kmt
