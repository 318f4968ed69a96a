// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/dying_cgroups.hpp"

#include <gtest/gtest.h>

#include "snapshot/parsers.hpp"

namespace kmt {
namespace {

std::vector<DyingCgroups> dying_in(std::string_view text) {
  KernelMemory memory;
  parse_cgroups(text, memory);
  EXPECT_TRUE(memory.unknown.empty());
  return dying_cgroups(memory.cgroups);
}

// The root has 75 removed cgroups below it: 70 are below /jobs, and 20 of these are below /jobs/a.
TEST(DyingCgroups, CountForTheDeepestExistingCgroup) {
  const std::vector<DyingCgroups> rows = dying_in(
      "/cgroup.stat:nr_descendants 3\n/cgroup.stat:nr_dying_descendants 75\n/memory.stat:slab 9000\n"
      "/jobs/memory.stat:slab 8192\n/jobs/memory.stat:file 40960\n/jobs/cgroup.stat:nr_descendants 2\n"
      "/jobs/cgroup.stat:nr_dying_descendants 70\n/jobs/a/memory.stat:slab 4096\n/jobs/a/memory.stat:file 36864\n"
      "/jobs/a/cgroup.stat:nr_descendants 0\n/jobs/a/cgroup.stat:nr_dying_descendants 20\n"
      "/jobs/b/memory.stat:slab 1024\n/jobs/b/cgroup.stat:nr_descendants 0\n"
      "/jobs/b/cgroup.stat:nr_dying_descendants 0\n");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].below, "/jobs");
  EXPECT_EQ(rows[0].count, 50u);
  EXPECT_EQ(rows[0].existing, 2u);
  EXPECT_EQ(rows[0].slab_bytes, 8192u - 4096 - 1024);
  EXPECT_FALSE(rows[0].file_bytes) << "the file of /jobs/b has no such line";
  EXPECT_EQ(rows[1].below, "/jobs/a");
  EXPECT_EQ(rows[1].count, 20u);
  EXPECT_EQ(rows[1].slab_bytes, 4096u);
  EXPECT_EQ(rows[1].file_bytes, 36864u);
  EXPECT_EQ(rows[2].below, "/");
  EXPECT_EQ(rows[2].count, 5u);
  EXPECT_FALSE(rows[2].slab_bytes) << "memory of the root belongs to no cgroup";
}

// A copy lacks the files of /a, so /a/b is the next cgroup below the root.
TEST(DyingCgroups, CountOnceIfACgroupBetweenIsMissing) {
  const std::vector<DyingCgroups> rows = dying_in(
      "/cgroup.stat:nr_dying_descendants 9\n/a/b/cgroup.stat:nr_dying_descendants 7\nx/y/memory.stat:slab 1\n");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].below, "/a/b");
  EXPECT_EQ(rows[0].count, 7u);
  EXPECT_EQ(rows[1].below, "/");
  EXPECT_EQ(rows[1].count, 2u);
}

// In copies, version 1 cgroups have no counts of removed cgroups, and no cgroups have them before Linux 4.14.
TEST(DyingCgroups, UnknownWithoutCounts) {
  EXPECT_TRUE(dying_in("/a/memory.stat:slab 4096\n/a/memory.kmem.usage_in_bytes:8192\n").empty());
  EXPECT_TRUE(dying_in("/cgroup.stat:nr_descendants 3\n/cgroup.stat:nr_dying_descendants 0\n").empty());
}

// The kernel no longer shows the counts of /a/b, which was removed after its memory.stat was read.
TEST(DyingCgroups, CountsWithoutAChildThatWasJustRemoved) {
  const std::vector<DyingCgroups> rows =
      dying_in("/a/cgroup.stat:nr_dying_descendants 7\n/a/memory.stat:slab 8192\n/a/b/memory.stat:slab 4096\n");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].count, 7u);
  EXPECT_EQ(rows[0].slab_bytes, 4096u);
}

// A cgroup may have the name of a file such as memory.stat.
TEST(DyingCgroups, ALineBelongsToItsLastFile) {
  const std::vector<DyingCgroups> rows = dying_in(
      "/cgroup.stat:a/cgroup.stat:nr_dying_descendants 2\n/cgroup.stat:a/memory.stat:slab 4096\n"
      "/memory.stat:b/cgroup.stat:nr_dying_descendants 1\n");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].below, "/cgroup.stat:a");
  EXPECT_EQ(rows[0].slab_bytes, 4096u);
  EXPECT_EQ(rows[1].below, "/memory.stat:b");
}

// The amounts of two cgroups are read one after another, so the amount of a child may be larger than that of its
// parent.
TEST(DyingCgroups, AmountsAreNeverNegative) {
  const std::vector<DyingCgroups> rows = dying_in(
      "/a/memory.stat:slab 4096\n/a/cgroup.stat:nr_dying_descendants 1\n/a/b/memory.stat:slab 5000\n"
      "/a/b/cgroup.stat:nr_dying_descendants 0\n");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].slab_bytes, 0u);
}

}  // namespace
}  // namespace kmt
