// SPDX-License-Identifier: GPL-2.0-or-later
// Tests to which process a task belongs, with events in hand-made ring buffer pages and with the recorder's notes.
#include <gtest/gtest.h>

#include "formats/kmt/description.hpp"
#include "formats/registry.hpp"
#include "support/trace_dat_builder.hpp"

namespace kmt {
namespace {

using namespace test;

constexpr std::uint64_t kThread = 0x3d0f00;  // flags of glibc's pthread_create(), including CLONE_THREAD
constexpr std::uint64_t kFork = 0x1200011;

std::string newtask_format(unsigned flags_bytes) {
  return "name: task_newtask\nID: 205\nformat:\n"
         "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
         "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
         "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
         "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
         "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
         "\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
         "\tfield:unsigned long clone_flags;\toffset:32;\tsize:" +
         std::to_string(flags_bytes) + ";\tsigned:0;\n\nprint fmt: \"x\"\n";
}

struct NewTask {
  std::uint64_t time;
  std::uint32_t parent;
  std::uint32_t tid;
  std::uint64_t flags;
};

class ThreadGroupsOf : public testing::TestWithParam<Machine> {
 protected:
  // Reads a trace with these events on each CPU, and returns its information.
  TraceInfo read(const std::vector<std::vector<NewTask>>& cpus) const {
    const Machine machine = GetParam();
    TraceDat dat;
    dat.machine = machine;
    dat.formats = {{"task", newtask_format(machine.long_bytes)}};
    for (const std::vector<NewTask>& tasks : cpus) {
      PageBuilder page(machine, 0);
      std::uint64_t time = 0;
      for (const NewTask& task : tasks) {
        ByteBuilder record(machine);
        record.u16(205).u8(0).u8(0).u32(task.parent).u32(task.tid).u64(0).u64(0).u32(0);  // no name
        if (machine.long_bytes == 8)
          record.u64(task.flags);
        else
          record.u32(static_cast<std::uint32_t>(task.flags));
        page.record(static_cast<std::uint32_t>(task.time - time), record.get());
        time = task.time;
      }
      dat.cpus.push_back({page.build()});
    }
    const std::vector<std::uint8_t> bytes = dat.version_7();
    const auto source = open_trace(TraceFile{"made by hand", bytes, nullptr});
    for (EventBatch batch; source->read(batch);) {
    }
    EXPECT_EQ(source->info().findings.count_of(Imperfection::short_record), 0u);
    return source->info();
  }
};
INSTANTIATE_TEST_SUITE_P(Machines, ThreadGroupsOf,
                         testing::Values(Machine{ByteOrder::little, 8}, Machine{ByteOrder::big, 4}));

TEST_P(ThreadGroupsOf, ThreadsAndForks) {
  const TraceInfo info = read({{{100, 1, 50, kFork},
                                {200, 50, 51, kThread},
                                {300, 51, 52, kThread},
                                {400, 51, 60, kFork},
                                {500, 70, 71, kThread}}});
  EXPECT_EQ(thread_group(info.tasks, 50), 50);
  EXPECT_EQ(thread_group(info.tasks, 51), 50);
  EXPECT_EQ(thread_group(info.tasks, 52), 50) << "created by a thread of the group";
  EXPECT_EQ(thread_group(info.tasks, 60), 60);
  EXPECT_EQ(thread_group(info.tasks, 71), 70);
  EXPECT_EQ(thread_group(info.tasks, 1), std::nullopt);
  EXPECT_EQ(thread_group(info.tasks, 0), 0);
}

TEST_P(ThreadGroupsOf, OnlyTheThreadFlagCounts) {
  const TraceInfo info = read({{{100, 50, 51, 0x10000}, {200, 50, 52, ~std::uint64_t{0x10000}}}});
  EXPECT_EQ(thread_group(info.tasks, 51), 50);
  EXPECT_EQ(thread_group(info.tasks, 52), 52);
}

TEST_P(ThreadGroupsOf, TheLatestTaskOfAnIdCounts) {
  const TraceInfo info = read({{{100, 50, 51, kThread}, {300, 1, 51, kFork}, {500, 80, 90, kThread}},
                               {{50, 1, 90, kFork}, {200, 60, 51, kThread}}});
  EXPECT_EQ(thread_group(info.tasks, 51), 51);
  EXPECT_EQ(thread_group(info.tasks, 90), 80);
}

TEST_P(ThreadGroupsOf, AParentOnAnotherCpuMayBeReadLater) {
  const TraceInfo info = read({{{300, 51, 52, kThread}, {400, 52, 53, kThread}}, {{200, 50, 51, kThread}}});
  EXPECT_EQ(thread_group(info.tasks, 52), 50);
  EXPECT_EQ(thread_group(info.tasks, 53), 50);
}

TEST_P(ThreadGroupsOf, ACircleOfParentsEnds) {
  const TraceInfo info = read({{{100, 8, 7, kThread}, {200, 9, 8, kThread}}, {{150, 7, 9, kThread}}});
  EXPECT_TRUE(thread_group(info.tasks, 7).has_value());
}

TEST(ThreadGroups, AreReadFromTheFile) {
  TraceDescription description;
  description.kernel.thread_groups = "50 50\n51 50\nnone\n60\n\n4294967296 1\n70 70 5\n";
  TraceDescription read;
  kmt_format::decode_facts(kmt_format::encode_facts(description), read);
  EXPECT_EQ(read.kernel.thread_groups, description.kernel.thread_groups);

  read.kernel.header_page =
      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
      "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
      "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
  TraceInfo info;
  describe_trace(read, info);
  EXPECT_EQ(thread_group(info.tasks, 51), 50);
  EXPECT_EQ(thread_group(info.tasks, 70), 70);
  EXPECT_EQ(info.tasks.thread_groups.size(), 3u);
}

}  // namespace
}  // namespace kmt
