// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the table of code mappings that the kernel has reported. When /proc is read again, the table shows which
// mappings are new.
#include <gtest/gtest.h>

#include "capture/sideband/mapped_code.hpp"

namespace kmt {
namespace {

using Kind = SpaceChange::Kind;

SpaceChange mapped(std::uint64_t time_ns, std::int32_t process, std::uint64_t start, std::uint64_t size = 0x1000) {
  return {.time_ns = time_ns, .process = process, .kind = Kind::mapped, .start = start, .size = size};
}

TEST(MappedCode, IsTheLastReportedMapping) {
  MappedCode code;
  code.add(mapped(10, 7, 0x1000), "/bin/a");
  EXPECT_TRUE(code.has(mapped(0, 7, 0x1000), "/bin/a"));
  EXPECT_FALSE(code.has(mapped(0, 7, 0x1000), "/bin/b"));
  EXPECT_FALSE(code.has(mapped(0, 7, 0x1000, 0x2000), "/bin/a"));
  EXPECT_FALSE(code.has(mapped(0, 8, 0x1000), "/bin/a"));
  EXPECT_EQ(code.changed_ns(7), 10u);
  EXPECT_EQ(code.changed_ns(8), 0u);
}

TEST(MappedCode, IsReplacedByAnotherMapping) {
  MappedCode code;
  for (const std::uint64_t start : {0x1000u, 0x3000u, 0x5000u, 0x8000u}) code.add(mapped(10, 7, start), "/bin/a");
  code.add(mapped(20, 7, 0x3800, 0x2000), "/bin/b");
  EXPECT_TRUE(code.has(mapped(0, 7, 0x1000), "/bin/a"));
  EXPECT_FALSE(code.has(mapped(0, 7, 0x3000), "/bin/a"));
  EXPECT_FALSE(code.has(mapped(0, 7, 0x5000), "/bin/a"));
  EXPECT_TRUE(code.has(mapped(0, 7, 0x8000), "/bin/a"));
  EXPECT_TRUE(code.has(mapped(0, 7, 0x3800, 0x2000), "/bin/b"));
}

TEST(MappedCode, FollowsForkExecAndExit) {
  MappedCode code;
  code.add(mapped(10, 7, 0x1000), "/bin/a");
  code.add({.time_ns = 20, .process = 8, .kind = Kind::forked, .parent = 7}, "");
  EXPECT_TRUE(code.has(mapped(0, 8, 0x1000), "/bin/a"));
  EXPECT_EQ(code.changed_ns(8), 20u);
  code.add({.time_ns = 30, .process = 7, .kind = Kind::executed}, "");
  EXPECT_FALSE(code.has(mapped(0, 7, 0x1000), "/bin/a"));
  code.ended(8, 15);
  EXPECT_TRUE(code.has(mapped(0, 8, 0x1000), "/bin/a")) << "the earlier process with this id has ended";
  code.ended(8, 40);
  EXPECT_FALSE(code.has(mapped(0, 8, 0x1000), "/bin/a"));
  EXPECT_EQ(code.changed_ns(8), 0u);
}

TEST(MappedCode, ChangesOfAChildDoNotAffectTheParent) {
  MappedCode code;
  code.add(mapped(10, 7, 0x1000), "/bin/a");
  code.add({.time_ns = 20, .process = 8, .kind = Kind::forked, .parent = 7}, "");
  code.add(mapped(30, 8, 0x2000), "/bin/b");
  code.add(mapped(31, 7, 0x3000), "/bin/c");
  EXPECT_FALSE(code.has(mapped(0, 7, 0x2000), "/bin/b"));
  EXPECT_FALSE(code.has(mapped(0, 8, 0x3000), "/bin/c"));
  EXPECT_TRUE(code.has(mapped(0, 8, 0x1000), "/bin/a"));
  EXPECT_EQ(code.processes().size(), 2u);
  EXPECT_EQ(code.changed_ns(8), 30u);
  EXPECT_EQ(code.began_ns(8), 20u) << "unreported mappings may exist since this time";
  EXPECT_EQ(code.began_ns(7), 0u);
}

}  // namespace
}  // namespace kmt
