// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/ring_marks.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace kmt {
namespace {

KernelDescription recorded_kernel() {
  KernelDescription kernel;
  kernel.release = "6.12.1";
  kernel.version = "#1 SMP";
  kernel.clock = "mono";
  kernel.saved_cmdlines = "1 init\n42 a name\n";
  kernel.thread_groups = "1 1\n42 42\n";
  kernel.kallsyms = "ffffffff81000000 T _text\n";
  kernel.formats = {{"ftrace", "name: print\nID: 5\n"},
                    {"kmem", "name: kmalloc\nID: 500\n" + std::string(3000, 'x')},
                    {"kmemtrace", "name: kfree_rcu\nID: 2001\n"}};
  kernel.notes = {{"boot_id", "one"},
                  {"kernel_version", "#1 SMP"},
                  {"modules", "ext4 4096 0 - Live 0xffffffffc0001000\nhidden 1 0 - Live 0x0000000000000000\n"},
                  {"kernel_config", "CONFIG_SLUB=y\n"}};
  return kernel;
}

std::string page_with(const std::vector<std::string>& texts) {
  std::string page(16, '\0');
  for (const std::string& text : texts) page += std::string("\x05\0\xff", 3) + text + "\n" + '\0';
  return page;
}

TEST(RingMarks, ADescriptionSurvives) {
  const RingMark mark = mark_of(recorded_kernel(), 0xffffffff81000000);
  std::vector<std::string> pieces = split_mark(mark, 7);
  ASSERT_GT(pieces.size(), 3u);
  for (const std::string& piece : pieces) EXPECT_LT(piece.size(), 1024u);
  // the pieces lie in the buffers of two CPUs
  MarkFinder finder;
  std::reverse(pieces.begin(), pieces.end());
  finder.look(page_with({pieces.begin(), pieces.begin() + 2}));
  EXPECT_FALSE(finder.latest());
  finder.look(page_with({pieces.begin() + 2, pieces.end()}));
  ASSERT_TRUE(finder.latest());
  EXPECT_EQ(*finder.latest(), mark);

  KernelDescription later;
  later.release = "6.12.2";
  later.formats = {{"ftrace", "name: print\nID: 5\n"}, {"kmem", "name: kmalloc\nID: 600\n"}};
  later.notes = {{"boot_id", "two"}, {"kernel_config", "same"}, {"module_sections", "ext4 1"}, {"tasks", "1 0"}};
  forget_this_boot(later);
  EXPECT_EQ(later.notes, (std::map<std::string, std::string>{{"kernel_config", "same"}}));
  apply_mark(*finder.latest(), later);
  EXPECT_EQ(later.release, "6.12.1");
  EXPECT_EQ(later.version, "#1 SMP");
  EXPECT_EQ(later.clock, "mono");
  EXPECT_EQ(later.saved_cmdlines, "1 init\n42 a name\n");
  EXPECT_EQ(later.notes.at("boot_id"), "one");
  ASSERT_EQ(later.formats.size(), 3u);
  EXPECT_EQ(later.formats[1].system, "kmem");
  EXPECT_EQ(later.formats[1].text, recorded_kernel().formats[1].text);
  EXPECT_EQ(later.formats[2].system, "kmemtrace");
  EXPECT_EQ(modules_of(mark), (std::map<std::string, std::uint64_t>{{"ext4", 0xffffffffc0001000}}));
}

TEST(RingMarks, TheLatestCompleteOneCounts) {
  KernelDescription kernel = recorded_kernel();
  MarkFinder finder;
  const auto look = [&](const char* boot, std::uint64_t serial, bool whole) {
    kernel.notes["boot_id"] = boot;
    std::vector<std::string> pieces = split_mark(mark_of(kernel, {}), serial);
    if (!whole) pieces.erase(pieces.begin() + 1);
    finder.look(page_with(pieces));
  };
  look("first", 1, true);
  look("third", 30, true);
  look("second", 2, true);
  look("overwritten", 31, false);
  ASSERT_TRUE(finder.latest());
  EXPECT_EQ(finder.latest()->at("note boot_id"), "third");
}

TEST(RingMarks, DamagedPiecesAreIgnored) {
  MarkFinder finder;
  for (const char* const text :
       {"kmemtrace-mark ", "kmemtrace-mark 1", "kmemtrace-mark 1 0 1 5\n123", "kmemtrace-mark 1 1 1 0\n",
        "kmemtrace-mark 1 0 99999999 3\nabc", "kmemtrace-mark 1 0 1 9999\nabc", "kmemtrace-mark -1 0 1 3\nabc",
        "kmemtrace-mark 99999999999999999999 0 1 3\nabc", "kmemtrace-mark 1 0 1 3 abc"})
    finder.look(text);
  EXPECT_FALSE(finder.latest());
  // whole pieces whose text is no mark: a length that is too large, or no length
  for (const char* const text : {"kmemtrace-mark 5 0 1 8\n99 a\nbcd\n", "kmemtrace-mark 6 0 1 4\nabcd"})
    finder.look(text);
  EXPECT_FALSE(finder.latest());
}

TEST(RingMarks, ManyPiecesOfHostilePagesTakeLittleMemory) {
  MarkFinder finder;
  for (int serial = 0; serial < 5000; ++serial) finder.look("kmemtrace-mark " + std::to_string(serial) + " 0 2 3\nabc");
  EXPECT_FALSE(finder.latest());
}

}  // namespace
}  // namespace kmt
