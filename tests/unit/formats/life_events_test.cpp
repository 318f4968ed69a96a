// SPDX-License-Identifier: GPL-2.0-or-later
// Tests reading events about tasks, cgroups, modules and system calls, with hand-made records.
#include <gtest/gtest.h>

#include "formats/ftrace/record_decoder.hpp"
#include "support/trace_dat_builder.hpp"
#include "trace/tasks/processes.hpp"

namespace kmt {
namespace {

using namespace test;

constexpr const char* kCommon =
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

FormatText format(const std::string& system, const std::string& name, unsigned id, const std::string& fields) {
  return {system, "name: " + name + "\nID: " + std::to_string(id) + "\n" + kCommon + fields + "\nprint fmt: \"x\"\n"};
}

// Returns the formats of events in Linux 6.1.
std::vector<FormatText> formats() {
  return {format("cgroup", "cgroup_attach_task", 300,
                 "\tfield:int dst_root;\toffset:8;\tsize:4;\tsigned:1;\n"
                 "\tfield:int dst_level;\toffset:12;\tsize:4;\tsigned:1;\n"
                 "\tfield:u64 dst_id;\toffset:16;\tsize:8;\tsigned:0;\n"
                 "\tfield:int pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                 "\tfield:__data_loc char[] dst_path;\toffset:28;\tsize:4;\tsigned:0;\n"
                 "\tfield:__data_loc char[] comm;\toffset:32;\tsize:4;\tsigned:0;\n"),
          format("module", "module_load", 301,
                 "\tfield:unsigned int taints;\toffset:8;\tsize:4;\tsigned:0;\n"
                 "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n"),
          format("module", "module_free", 302, "\tfield:__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:0;\n"),
          format("sched", "sched_process_fork", 303,
                 "\tfield:char parent_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                 "\tfield:pid_t parent_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                 "\tfield:char child_comm[16];\toffset:28;\tsize:16;\tsigned:0;\n"
                 "\tfield:pid_t child_pid;\toffset:44;\tsize:4;\tsigned:1;\n"),
          format("raw_syscalls", "sys_enter", 304,
                 "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
                 "\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n"),
          format("raw_syscalls", "sys_exit", 305,
                 "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
                 "\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n"),
          format("syscalls", "sys_enter_quotactl_fd", 307,
                 "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
                 "\tfield:unsigned int fd;\toffset:16;\tsize:8;\tsigned:0;\n"
                 "\tfield:qid_t id;\toffset:24;\tsize:8;\tsigned:0;\n")};
}

class LifeEvents : public testing::Test {
 protected:
  ByteBuilder record(std::uint16_t id, std::uint32_t tid) {
    ByteBuilder bytes(machine_);
    bytes.u16(id).u8(0).u8(0).u32(tid);
    return bytes;
  }
  ByteBuilder attach(std::uint32_t root, std::uint32_t pid, const std::string& path) {
    ByteBuilder bytes = record(300, 1);
    bytes.u32(root).u32(1).u64(77).u32(pid).u32(static_cast<std::uint32_t>(path.size() + 1) << 16 | 36).u32(0);
    for (const char c : path) bytes.u8(static_cast<std::uint8_t>(c));
    bytes.u8(0);
    return bytes;
  }
  void decode(std::uint64_t time_ns, const ByteBuilder& bytes) { decoder_.decode(bytes.get(), time_ns, 0, 0, batch_); }

  Machine machine_{};
  TraceInfo info_;
  RecordDecoder decoder_{parse_event_formats(formats(), info_.findings), ByteOrder::little, info_};
  EventBatch batch_;
};

TEST_F(LifeEvents, TasksMoveBetweenCgroups) {
  decode(1000, attach(0, 812, "/a.slice"));
  decode(2000, attach(0, 812, "/b"));
  decode(3000, attach(5, 812, "/of/version/1"));
  EXPECT_EQ(cgroup_of(info_.tasks, {812, nullptr}, 999), "");
  EXPECT_EQ(cgroup_of(info_.tasks, {812, nullptr}, 1999), "/a.slice");
  EXPECT_EQ(cgroup_of(info_.tasks, {812, nullptr}, 9000), "/b");
}

TEST_F(LifeEvents, APathBeyondTheRecordIsIgnored) {
  ByteBuilder bytes = record(300, 1);
  bytes.u32(0).u32(1).u64(77).u32(812).u32(0xFFFF0024).u32(0);
  decode(1000, bytes);
  EXPECT_EQ(cgroup_of(info_.tasks, {812, nullptr}, 9000), "");
}

TEST_F(LifeEvents, ModulesComeAndGo) {
  ByteBuilder load = record(301, 1);
  load.u32(0).u32(4 << 16 | 16).u8('b').u8('r').u8('d').u8(0);
  decode(1000, load);
  ByteBuilder free = record(302, 1);
  free.u32(4 << 16 | 12).u8('b').u8('r').u8('d').u8(0);
  decode(2000, free);
  const std::map<std::uint64_t, bool> expected = {{1000, true}, {2000, false}};
  EXPECT_EQ(info_.code.module_events, (ModuleEvents{{"brd", expected}}));
}

TEST_F(LifeEvents, ForksCreateTasks) {
  ByteBuilder fork = record(303, 10);
  fork.u64(0).u64(0).u32(10).u64(0).u64(0).u32(300);
  decode(1000, fork);
  const Process child = process_at(info_.tasks, 300, 1000);
  ASSERT_NE(child.life, nullptr);
  EXPECT_EQ(child.life->creator, 10);
}

TEST_F(LifeEvents, SystemCallsMayHaveOnlyAName) {
  ByteBuilder enter = record(307, 7);
  enter.u32(443).u32(0).u64(3).u64(1000);
  decode(1000, enter);
  ASSERT_EQ(batch_.size(), 1u);
  EXPECT_EQ(batch_[0].kind, EventKind::syscall_enter);
  EXPECT_EQ(batch_[0].address, 0u) << "the id is an argument of the event";
}

TEST_F(LifeEvents, SystemCallsHaveNumbers) {
  ByteBuilder enter = record(304, 7);
  enter.u64(257).u64(0).u64(0).u64(0).u64(0).u64(0).u64(0);
  decode(1000, enter);
  ByteBuilder exit = record(305, 7);
  exit.u64(257).u64(3);
  decode(2000, exit);
  ASSERT_EQ(batch_.size(), 2u);
  EXPECT_EQ(batch_[0].kind, EventKind::syscall_enter);
  EXPECT_EQ(batch_[0].address, 257u);
  EXPECT_EQ(batch_[0].tid, 7);
  EXPECT_EQ(batch_[1].kind, EventKind::syscall_exit);
}

}  // namespace
}  // namespace kmt
