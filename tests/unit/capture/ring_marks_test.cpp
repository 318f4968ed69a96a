// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/ring_marks.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/page_builder.hpp"

namespace kmt {
namespace {

constexpr MarkerEvent kPrint{5, 16};

// An event that contains the text at offset 16, as ftrace:print and sched:sched_process_exec do.
std::vector<std::uint8_t> event_with(std::uint16_t id, const std::string& text) {
  test::ByteBuilder event{test::Machine{}};
  event.u16(id).u16(0).u32(42).u64(0xffffffff81234567).text(text).align(4);
  return event.get();
}

KernelDescription recorded_kernel() {
  KernelDescription kernel;
  kernel.release = "6.12.1";
  kernel.version = "#1 SMP";
  kernel.clock = "mono";
  kernel.saved_cmdlines = "1 init\n42 a name\n";
  kernel.thread_groups = "1 1\n42 42\n";
  kernel.kallsyms = std::string("ffffffff81000000 T _text\n");
  kernel.formats = {{"ftrace", "name: print\nID: 5\n"},
                    {"kmem", "name: kmalloc\nID: 500\n" + std::string(3000, 'x')},
                    {"kmemtrace", "name: kfree_rcu\nID: 2001\n"}};
  kernel.notes = {{"boot_id", "one"},
                  {"kernel_version", "#1 SMP"},
                  {"modules", "ext4 4096 0 - Live 0xffffffffc0001000\nhidden 1 0 - Live 0x0000000000000000\n"},
                  {"kernel_config", "CONFIG_SLUB=y\n"}};
  return kernel;
}

std::vector<std::uint8_t> page_with(const std::vector<std::string>& texts, std::uint16_t id = kPrint.id) {
  test::PageBuilder page(test::Machine{}, 1000);
  for (const std::string& text : texts) page.long_record(7, event_with(id, text + "\n" + '\0'));
  return page.build();
}

class RingMarks : public testing::Test {
 protected:
  MarkFinder finder{PageLayout{ByteOrder::little, 8, 4096}, kPrint};
};

TEST_F(RingMarks, ADescriptionSurvives) {
  const RingMark mark = mark_of(recorded_kernel(), 0xffffffff81000000);
  std::vector<std::string> pieces = split_mark(mark, 7);
  ASSERT_GT(pieces.size(), 3u);
  for (const std::string& piece : pieces) EXPECT_LT(piece.size(), 1024u);
  // the pieces lie in the buffers of two CPUs
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

TEST_F(RingMarks, TheLatestCompleteOneCounts) {
  KernelDescription kernel = recorded_kernel();
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

TEST_F(RingMarks, DamagedPiecesAreIgnored) {
  for (const char* const text :
       {"kmemtrace-mark ", "kmemtrace-mark 1", "kmemtrace-mark 1 0 1 5\n123", "kmemtrace-mark 1 1 1 0\n",
        "kmemtrace-mark 1 0 99999999 3\nabc", "kmemtrace-mark 1 0 1 9999\nabc", "kmemtrace-mark -1 0 1 3\nabc",
        "kmemtrace-mark 99999999999999999999 0 1 3\nabc", "kmemtrace-mark 1 0 1 3 abc"})
    finder.look(page_with({text}));
  EXPECT_FALSE(finder.latest());
  // whole pieces whose text is no mark: a length that is too large, or no length
  for (const char* const text : {"kmemtrace-mark 5 0 1 8\n99 a\nbcd\n", "kmemtrace-mark 6 0 1 4\nabcd"})
    finder.look(page_with({text}));
  EXPECT_FALSE(finder.latest());
}

TEST_F(RingMarks, ManyPiecesOfHostilePagesTakeLittleMemory) {
  for (int serial = 0; serial < 5000; ++serial)
    finder.look(page_with({"kmemtrace-mark " + std::to_string(serial) + " 0 2 3\nabc"}));
  EXPECT_FALSE(finder.latest());
}

// A user without privileges chooses the path of a program, and so the text of another event.
TEST_F(RingMarks, OnlyEventsOfTraceMarkerCount) {
  const std::vector<std::string> forged = split_mark({{"release", "forged"}}, 99);
  finder.look(page_with(forged, 300));
  // a whole event of trace_marker inside the text of another event
  const std::vector<std::uint8_t> inner = event_with(kPrint.id, forged.front());
  finder.look(page_with({std::string(inner.begin(), inner.end())}, 300));
  finder.look(page_with({"x" + forged.front()}));  // the magic must be at the start of the text
  EXPECT_FALSE(finder.latest());
  finder.look(page_with(split_mark({{"release", "true"}}, 1)));
  ASSERT_TRUE(finder.latest());
  EXPECT_EQ(finder.latest()->at("release"), "true");
}

TEST_F(RingMarks, TasksCanBeLeftOut) {
  KernelDescription kernel = recorded_kernel();
  kernel.notes["tasks_later"] = std::string(100'000, 'x');
  RingMark mark = mark_of(kernel, {});
  EXPECT_GT(bytes_of(mark), 100'000u);
  remove_tasks(mark);
  EXPECT_LT(bytes_of(mark), 10'000u);
  EXPECT_EQ(mark.at("note boot_id"), "one");
  EXPECT_FALSE(mark.contains("thread_groups"));
}

TEST_F(RingMarks, OnlyKnownNotesAndPossibleFormatsCount) {
  RingMark mark = {{"note boot_id", "one"}, {"note kernel_config", "forged"}, {"note ", "x"}};
  for (int i = 0; i < 70'000; ++i) mark["format " + std::to_string(i) + " kmem"] = "name: x\n";
  KernelDescription kernel;
  kernel.notes["kernel_config"] = "true";
  apply_mark(mark, kernel);
  EXPECT_EQ(kernel.notes, (std::map<std::string, std::string>{{"boot_id", "one"}, {"kernel_config", "true"}}));
  EXPECT_EQ(kernel.formats.size(), 65'536u);
}

TEST(MarkerEvents, AreFoundInTheFormats) {
  // from events/ftrace/print/format of Linux 6.12 on x86-64
  const std::string format =
      "name: print\nID: 5\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
      "\n\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
      "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n";
  const MarkerEvent found = marker_event({{"kmem", format}, {"ftrace", "name: bprint\nID: 6\n"}, {"ftrace", format}});
  EXPECT_EQ(found.id, 5u);
  EXPECT_EQ(found.text_offset, 16u);
  EXPECT_THROW(marker_event({{"kmem", format}}), Error);
  EXPECT_THROW(marker_event({{"ftrace", "name: print\nID: 5\n"}}), Error);
}

}  // namespace
}  // namespace kmt
