// SPDX-License-Identifier: GPL-2.0-or-later
// Tests that a report's pass over a trace also computes the waits of tasks, with hand-made trace.dat files.
#include "cli/input/stalls_alongside.hpp"

#include <filesystem>
#include <fstream>
#include <memory>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/trace_dat_builder.hpp"

namespace kmt {
namespace {

using namespace test;

constexpr const char* kCommonFields =
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

std::string described(const std::string& name, int id, const std::string& fields) {
  return "name: " + name + "\nID: " + std::to_string(id) + "\n" + kCommonFields + fields + "\nprint fmt: \"x\"\n";
}

class WaitsBesideAReport : public testing::Test {
 protected:
  WaitsBesideAReport() {
    dat_.formats = kmem_formats({});
    dat_.options = {{5, std::string("Linux host 6.1.0-test x86_64\0", 29)}, {4, std::string("local [mono]\n\0", 14)}};
    records_.record(10, kmalloc_record({}, 0x81000010, 0x87654320, 100, 128));
  }
  ~WaitsBesideAReport() override { std::filesystem::remove(path_); }

  void add_stall_types() {
    dat_.formats.emplace_back("vmscan",
                              described("mm_vmscan_memcg_reclaim_begin", 300,
                                        "\tfield:int order;\toffset:8;\tsize:4;\tsigned:1;\n"
                                        "\tfield:unsigned long gfp_flags;\toffset:16;\tsize:8;\tsigned:0;\n"));
    dat_.formats.emplace_back("vmscan",
                              described("mm_vmscan_memcg_reclaim_end", 301,
                                        "\tfield:unsigned long nr_reclaimed;\toffset:8;\tsize:8;\tsigned:0;\n"));
    dat_.formats.emplace_back("task", described("task_rename", 302,
                                                "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
                                                "\tfield:char oldcomm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
                                                "\tfield:char newcomm[16];\toffset:28;\tsize:16;\tsigned:0;\n"
                                                "\tfield:short oom_score_adj;\toffset:44;\tsize:2;\tsigned:1;\n"));
  }
  static ByteBuilder record(std::uint16_t id) {
    ByteBuilder bytes{Machine{}};
    bytes.u16(id).u8(0).u8(0).u32(7);
    return bytes;
  }
  // A wait of 500 ns for an object, and then a new name of the task.
  void add_wait() {
    records_.record(10, record(300).u32(0).u32(0).u64(0xcc0).get());
    records_.record(500, record(301).u64(32).get());
    records_.record(10, kmalloc_record({}, 0x81000010, 0x87654420, 200, 256));
    std::string names = "early";
    names.resize(16);
    names += "worker";
    names.resize(32);
    records_.record(10, record(302).u32(7).bytes({names.begin(), names.end()}).u32(0).get());
  }
  std::optional<StallsResult> waits() {
    dat_.cpus = {{records_.build()}};
    const std::vector<std::uint8_t> bytes = dat_.version_6();
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    AnalyseOptions options;
    options.trace.files = {path_};
    options.trace.progress = false;
    options.names = false;
    StallsRequest stalls{.request = {.by = {}}, .longest = 1};
    analyse(options, {ReportRequest{}}, nullptr, &stalls);
    return stalls.result;
  }

 private:
  std::string path_ =
      std::filesystem::temp_directory_path() / ("stalls_alongside_test." + std::to_string(::getpid()) + ".dat");
  TraceDat dat_;
  PageBuilder records_{Machine{}, 1000};
};

TEST_F(WaitsBesideAReport, AreUnknownWithoutStallEvents) { EXPECT_FALSE(waits()); }

TEST_F(WaitsBesideAReport, MayBeNone) {
  add_stall_types();
  const auto result = waits();
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->recorded);
  EXPECT_EQ(result->total.waits, 0u);
}

TEST_F(WaitsBesideAReport, HaveTheNameThatTheTaskHadThen) {
  add_stall_types();
  add_wait();
  const auto result = waits();
  ASSERT_TRUE(result);
  ASSERT_EQ(result->longest.size(), 1u);
  EXPECT_EQ(result->longest[0].sums.total_ns, 500u);
  EXPECT_EQ(result->longest[0].task, "early-7");
  ASSERT_TRUE(result->longest[0].memory);
  EXPECT_TRUE(result->longest[0].memory->by_kmalloc);
  EXPECT_EQ(result->longest[0].memory->bytes_requested, 200u);
}

}  // namespace
}  // namespace kmt
