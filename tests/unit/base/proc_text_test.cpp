// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/proc_text.hpp"

#include <gtest/gtest.h>

namespace kmt {

TEST(ProcText, LinesHaveANameANumberAndOptionallyAUnit) {
  const auto slab = parse_proc_line("Slab:   96564 kB");
  ASSERT_TRUE(slab);
  EXPECT_EQ(slab->name, "Slab");
  EXPECT_EQ(slab->value, 96564u * 1024);
  EXPECT_TRUE(slab->in_bytes);
  const auto faults = find_proc_value("pgfault_2 1\npgfault 17\nTgid:\t5\n", "pgfault");
  ASSERT_TRUE(faults);
  EXPECT_EQ(faults->value, 17u);
  EXPECT_FALSE(faults->in_bytes);
  EXPECT_EQ(find_proc_value("Tgid:\t5\n", "Tgid")->value, 5u);
  EXPECT_FALSE(find_proc_value("Slab: 1 kB\n", "Sla"));
  for (const char* const line : {"", "Slab:", "Slab: x kB", "Slab: 1 MB", "Slab: 1 kB more", "a 99999999999999999999"})
    EXPECT_FALSE(parse_proc_line(line)) << line;
}

TEST(ProcText, MountPointsMayHaveBlanks) {
  const auto mounts = parse_mounts(
      "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n"
      "none /mnt/a\\040b\\011c\\134040\\x tracefs rw 0 0\n"
      "none /mnt tracefs\n");
  ASSERT_EQ(mounts.size(), 2u);
  EXPECT_EQ(mounts[0].place, "/sys/fs/cgroup");
  EXPECT_EQ(mounts[0].type, "cgroup2");
  EXPECT_EQ(mounts[0].options, "rw,nosuid");
  EXPECT_EQ(mounts[1].place, "/mnt/a b\tc\\040\\x");
}

TEST(ProcText, ModulesHaveASizeAndAnAddress) {
  const auto modules = parse_modules(
      "brd 24576 0 - Live 0xffffffffc0481000\n"
      "kmt 8192 1 brd, Loading 0x0000000000000000 (OE)\n"
      "half 1 2\n"
      "odd x 0 - Live 0x1\n");
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0], (LoadedModule{"brd", 24576, 0xffffffffc0481000, false}));
  EXPECT_EQ(modules[0].end(), 0xffffffffc0487000u);
  EXPECT_EQ(modules[1], (LoadedModule{"kmt", 8192, 0, true}));
}

}  // namespace kmt
