// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/persistent.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "capture/tracefs/buffer_counters.hpp"

namespace kmt {
namespace {

namespace fs = std::filesystem;

TEST(LastBootInfo, OfLinux612HasADistance) {
  const LastBoot found = parse_last_boot_info("text delta:\t650117120\ndata delta:\t650117120\n");
  EXPECT_EQ(found.text_delta, 650117120u);
  EXPECT_FALSE(found.kernel_text || found.is_current);
  EXPECT_EQ(parse_last_boot_info("text delta:\t-4096\ndata delta:\t0\n").text_delta, ~0ull - 4095);
}

TEST(LastBootInfo, OfLaterKernelsHasAddresses) {
  const LastBoot found =
      parse_last_boot_info("ffffffff95200000\t[kernel]\nffffffffc0a01000\text4\nffffffffc09f0000\tvirtio_console\n");
  EXPECT_EQ(found.kernel_text, 0xffffffff95200000u);
  EXPECT_EQ(found.modules, (std::map<std::string, std::uint64_t>{{"ext4", 0xffffffffc0a01000u},
                                                                 {"virtio_console", 0xffffffffc09f0000u}}));
  EXPECT_FALSE(found.text_delta || found.is_current);
}

TEST(LastBootInfo, OfThisBootOrDamaged) {
  EXPECT_TRUE(parse_last_boot_info("# Current\n").is_current);
  EXPECT_FALSE(parse_last_boot_info("0\t[kernel]\n").kernel_text);  // the buffer was empty
  const LastBoot damaged = parse_last_boot_info("text delta:\t12x\nffffffff95200000 [kernel]\nzz\text4\n12\t\n\xff\n");
  EXPECT_FALSE(damaged.text_delta || damaged.kernel_text || damaged.is_current);
  EXPECT_TRUE(damaged.modules.empty());
}

TEST(LastBootInfo, ShowsWhetherTheKernelRestoresTheClock) {
  EXPECT_FALSE(restores_clock(parse_last_boot_info("text delta:\t0\ndata delta:\t0\n")));
  EXPECT_TRUE(restores_clock(parse_last_boot_info("ffffffff95200000\t[kernel]\n")));
  EXPECT_TRUE(restores_clock(parse_last_boot_info("# Current\n")));
}

TEST(EarlierKallsyms, ShiftsTheKernelAndModules) {
  const std::string now =
      "0000000000000000 A fixed_percpu_data\n"
      "ffffffff81000000 T _text\n"
      "ffffffff81002340 t do_eventfd\n"
      "ffffffff82000000 D jiffies\n"
      "ffffffffc0400010 t ext4_init\t[ext4]\n"
      "ffffffffc0500000 d ext4_data\t[ext4]\n"
      "ffffffffc0600000 t xfs_init\t[xfs]\n"
      "ffffffffc0700000 t bpf_prog_1\t[bpf]\n";
  const std::string modules =
      "ext4 1093632 1 - Live 0xffffffffc0400000\n"
      "xfs 2093632 0 - Live 0xffffffffc0600000\n";
  EXPECT_EQ(kallsyms_of_earlier_boot(now, 0xffffffff95200000, {{"ext4", 0xffffffffc0001000}}, modules),
            "0000000000000000 A fixed_percpu_data\n"
            "ffffffff95200000 T _text\n"
            "ffffffff95202340 t do_eventfd\n"
            "ffffffff96200000 D jiffies\n"
            "ffffffffc0001010 t ext4_init\t[ext4]\n");
  // the kernel lay at lower addresses
  EXPECT_NE(kallsyms_of_earlier_boot(now, 0xffffffff80000000, {}, modules).find("ffffffff80002340 t do_eventfd\n"),
            std::string::npos);
}

TEST(EarlierKallsyms, NeedsAddresses) {
  EXPECT_EQ(kallsyms_of_earlier_boot("0000000000000000 T _text\n0000000000000000 t kfree\n", 4096, {}, ""), "");
  EXPECT_EQ(kallsyms_of_earlier_boot("", 4096, {}, ""), "");
  EXPECT_EQ(kallsyms_of_earlier_boot("zz\n T _text\n", 4096, {}, ""), "");
}

class PersistentInstances : public testing::Test {
 protected:
  PersistentInstances() {
    std::string name = (fs::temp_directory_path() / "kmemtrace-test-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~PersistentInstances() override { fs::remove_all(folder_); }
  void add(const std::string& name, bool is_persistent) {
    const fs::path path = folder_ / "instances" / name;
    fs::create_directories(path);
    if (is_persistent) std::ofstream(path / "last_boot_info") << "# Current\n";
  }
  std::vector<PersistentInstance> found(const std::string& arguments) const {
    return persistent_instances(folder_, arguments);
  }
  fs::path folder_;
};

TEST_F(PersistentInstances, TheOnlyOneNeedsNoName) {
  add("other", false);
  EXPECT_TRUE(found("").empty());
  EXPECT_THROW(choose_persistent(found(""), ""), Error);
  add("flight", true);
  EXPECT_EQ(choose_persistent(found(""), "").name, "flight");
  EXPECT_THROW(choose_persistent(found(""), "other"), Error);
  add("second", true);
  EXPECT_THROW(choose_persistent(found(""), ""), Error);
  EXPECT_EQ(choose_persistent(found(""), "second").name, "second");
}

TEST_F(PersistentInstances, ABackupHasTheEventsOfThePreviousBoot) {
  add("flight", true);
  add("copy", true);
  const auto all = found("quiet trace_instance=flight^traceoff@mem,sched trace_instance=copy=flight");
  const PersistentInstance chosen = choose_persistent(all, "");
  EXPECT_EQ(chosen.name, "flight");
  EXPECT_EQ(with_previous_events(all, chosen).name, "copy");
  EXPECT_EQ(with_previous_events({chosen}, chosen).name, "flight");
  EXPECT_THROW(choose_persistent(all, "copy"), Error);  // nothing can be recorded into a backup
}

TEST(Backups, AreFoundInTheParameters) {
  const char* const arguments = "quiet trace_instance=flight^traceoff@mem,sched trace_instance=copy=flight,mm";
  EXPECT_TRUE(has_backup(arguments, "flight"));
  EXPECT_FALSE(has_backup(arguments, "copy"));
  EXPECT_FALSE(has_backup("trace_instance=flight@mem,a=b trace_instance=x@flight", "flight"));
  EXPECT_FALSE(has_backup("trace_instance=flight@mem,a=b", "b"));
}

TEST(PersistentParameters, SuitTheMachine) {
  EXPECT_EQ(persistent_parameters(12 << 20), "reserve_mem=12M:4096:kmemtrace trace_instance=kmemtrace@kmemtrace");
  EXPECT_EQ(suitable_persistent_bytes(4, 16ull << 30), 32ull << 20);
  EXPECT_EQ(suitable_persistent_bytes(64, 1ull << 30), 64ull << 20);
  EXPECT_EQ(suitable_persistent_bytes(0, 0), 1ull << 20);
}

TEST(PersistentParameters, NeedSupportOfTheKernel) {
  const std::string both = "ffffffff81000000 T __ring_buffer_alloc_range\nffffffff82000000 t reserve_mem\n";
  EXPECT_TRUE(supports_persistent(both));
  EXPECT_FALSE(supports_persistent("ffffffff82000000 t reserve_mem\n"));
  EXPECT_FALSE(supports_persistent("ffffffff82000000 T __ring_buffer_alloc_range\n"));
}

TEST(BufferCounters, OverwrittenEventsCanBeLeftOut) {
  const std::string text = without_overrun("entries: 7\noverrun: 12\ncommit overrun: 3\ndropped events: 2\n");
  EXPECT_EQ(text, "entries: 7\noverrun: 0\ncommit overrun: 3\ndropped events: 2\n");
  EXPECT_EQ(parse_buffer_counters(text).lost, 5u);
}

TEST(BufferCounters, TheTimeCanBeLeftOut) {
  const std::string text = without_time("entries: 7\noldest event ts:    3.5\nnow ts:    10.309984\nread events: 7\n");
  EXPECT_EQ(text, "entries: 7\noldest event ts:    3.5\nread events: 7\n");
  EXPECT_EQ(parse_buffer_counters(text).now_ticks, 0u);
}

}  // namespace
}  // namespace kmt
