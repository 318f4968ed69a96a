// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the names of tasks over time, with events in hand-made ring buffer pages.
#include <gtest/gtest.h>

#include "formats/registry.hpp"
#include "support/trace_dat_builder.hpp"

namespace kmt {
namespace {

using namespace test;

constexpr const char* kCommon =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

std::pair<std::string, std::string> format(const std::string& system, const std::string& name, unsigned id,
                                           const std::string& fields) {
  return {system,
          "name: " + name + "\nID: " + std::to_string(id) + "\nformat:\n" + kCommon + fields + "\nprint fmt: \"x\"\n"};
}

std::vector<std::pair<std::string, std::string>> formats() {
  return {format("task", "task_newtask", 205,
                 "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
                 "\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"),
          format("task", "task_rename", 204,
                 "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
                 "\tfield:char oldcomm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
                 "\tfield:char newcomm[16];\toffset:28;\tsize:16;\tsigned:0;\n"),
          format("sched", "sched_process_exec", 365,
                 "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
                 "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"),
          format("sched", "sched_switch", 300,
                 "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                 "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                 "\tfield:char next_comm[16];\toffset:28;\tsize:16;\tsigned:0;\n"
                 "\tfield:pid_t next_pid;\toffset:44;\tsize:4;\tsigned:1;\n")};
}

std::string padded(std::string text, std::size_t size = 16) {
  text.resize(size);
  return text;
}

class TaskNamesOf : public testing::TestWithParam<Machine> {
 protected:
  ByteBuilder record(std::uint16_t id) const {
    ByteBuilder out(GetParam());
    out.u16(id).u8(0).u8(0).u32(1);
    return out;
  }
  Page newtask(std::uint32_t pid, const std::string& name) const {
    return record(205).u32(pid).text(padded(name)).get();
  }
  Page rename(std::uint32_t pid, const std::string& before, const std::string& now) const {
    return record(204).u32(pid).text(padded(before)).text(padded(now)).get();
  }
  Page exec(std::uint32_t pid, const std::string& path, std::uint32_t more = 0) const {
    const auto size = static_cast<std::uint32_t>(path.size()) + 1;
    return record(365).u32((size + more) << 16 | 16).u32(pid).text(padded(path, (size + 3) / 4 * 4)).get();
  }
  Page switched(std::uint32_t prev, const std::string& prev_name, std::uint32_t next, const std::string& name) const {
    return record(300).text(padded(prev_name)).u32(prev).text(padded(name)).u32(next).get();
  }
  // Reads these records of one CPU. Their times are 1000, 2000, 3000 …
  std::unique_ptr<Source> read(const std::vector<Page>& records) const {
    TraceDat dat;
    dat.machine = GetParam();
    dat.formats = formats();
    PageBuilder page(GetParam(), 0);
    for (const Page& one : records) page.record(1000, one);
    dat.cpus = {{page.build()}};
    bytes_ = dat.version_7();
    auto source = open_trace(TraceFile{"made by hand", bytes_, nullptr});
    std::size_t events = 0;
    for (EventBatch batch; source->read(batch);) events += batch.size();
    EXPECT_EQ(events, records.size());
    return source;
  }

 private:
  mutable std::vector<std::uint8_t> bytes_;
};
INSTANTIATE_TEST_SUITE_P(Machines, TaskNamesOf,
                         testing::Values(Machine{ByteOrder::little, 8}, Machine{ByteOrder::big, 4}));

TEST_P(TaskNamesOf, ChangeWithTime) {
  const auto source = read(
      {newtask(7, "bash"), rename(7, "bash", "make"), rename(8, "old", "a name of fifteen"), newtask(7, "another")});
  const TraceInfo& info = source->info();
  EXPECT_EQ(task_name(info.tasks, 7, 999), "worker") << "no event has the name, but the list of last names has";
  EXPECT_EQ(task_name(info.tasks, 7, 1000), "bash");
  EXPECT_EQ(task_name(info.tasks, 7, 1999), "bash");
  EXPECT_EQ(task_name(info.tasks, 7, 2000), "make");
  EXPECT_EQ(task_name(info.tasks, 7, 4000), "another");
  EXPECT_EQ(task_name(info.tasks, 8, 0), "old");
  EXPECT_EQ(task_name(info.tasks, 8, 3000), "a name of fifte");
  EXPECT_EQ(task_name(info.tasks, 9, 3000), "<...>");
  EXPECT_EQ(task_name(info.tasks, 0, 3000), "<idle>");
}

TEST_P(TaskNamesOf, FromTheScheduler) {
  const auto source = read({switched(0, "swapper/0", 7, "sh"), exec(7, "/usr/bin/a-program-of-many-letters"),
                            switched(7, "a-program-of-ma", 8, "kworker/0:1"), exec(8, "/usr/bin/x", 100)});
  const TraceInfo& info = source->info();
  EXPECT_EQ(task_name(info.tasks, 7, 1500), "sh");
  EXPECT_EQ(task_name(info.tasks, 7, 2500), "a-program-of-ma");
  EXPECT_EQ(task_name(info.tasks, 8, 5000), "kworker/0:1") << "a path outside the record is ignored";
  EXPECT_EQ(task_name(info.tasks, 0, 5000), "<idle>");
}

TEST(TaskNameHistory, ComesInAnyOrder) {
  TaskNameHistory names;
  names.called_since(5, 300, "c");
  names.called_since(5, 100, "a");
  names.called_before(5, 200, "not a");
  names.called_since(5, 200, "b");
  EXPECT_EQ(names.at(5, 99), std::nullopt);
  EXPECT_EQ(names.at(5, 100), "a");
  EXPECT_EQ(names.at(5, 250), "b");
  EXPECT_EQ(names.at(5, ~0ull), "c");
}

}  // namespace
}  // namespace kmt
