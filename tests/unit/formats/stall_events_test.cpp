// SPDX-License-Identifier: GPL-2.0-or-later
// Tests reading events about waiting for memory, with hand-made records. The formats are those of Linux 6.18.
#include <gtest/gtest.h>

#include "formats/ftrace/record_decoder.hpp"
#include "support/trace_dat_builder.hpp"
#include "trace/stall.hpp"

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

std::vector<FormatText> formats() {
  const std::string request =
      "\tfield:int order;\toffset:8;\tsize:4;\tsigned:1;\n"
      "\tfield:unsigned long gfp_flags;\toffset:16;\tsize:8;\tsigned:0;\n";
  return {format("vmscan", "mm_vmscan_direct_reclaim_begin", 300, request),
          format("vmscan", "mm_vmscan_direct_reclaim_end", 301,
                 "\tfield:unsigned long nr_reclaimed;\toffset:8;\tsize:8;\tsigned:0;\n"),
          format("vmscan", "mm_vmscan_throttled", 302,
                 "\tfield:int nid;\toffset:8;\tsize:4;\tsigned:1;\n"
                 "\tfield:int usec_timeout;\toffset:12;\tsize:4;\tsigned:1;\n"
                 "\tfield:int usec_delayed;\toffset:16;\tsize:4;\tsigned:1;\n"
                 "\tfield:int reason;\toffset:20;\tsize:4;\tsigned:1;\n"),
          format("compaction", "mm_compaction_try_to_compact_pages", 303,
                 "\tfield:int order;\toffset:8;\tsize:4;\tsigned:1;\n"
                 "\tfield:unsigned long gfp_mask;\toffset:16;\tsize:8;\tsigned:0;\n"
                 "\tfield:int prio;\toffset:24;\tsize:4;\tsigned:1;\n"),
          format("vmscan", "mm_vmscan_lru_shrink_inactive", 304,
                 "\tfield:int nid;\toffset:8;\tsize:4;\tsigned:1;\n"
                 "\tfield:unsigned long nr_scanned;\toffset:16;\tsize:8;\tsigned:0;\n"
                 "\tfield:unsigned long nr_reclaimed;\toffset:24;\tsize:8;\tsigned:0;\n"),
          format("oom", "mark_victim", 305, "\tfield:int pid;\toffset:8;\tsize:4;\tsigned:1;\n"),
          format("writeback", "writeback_congestion_wait", 306,
                 "\tfield:unsigned int usec_timeout;\toffset:8;\tsize:4;\tsigned:0;\n"
                 "\tfield:unsigned int usec_delayed;\toffset:12;\tsize:4;\tsigned:0;\n"),
          format("other", "mm_vmscan_direct_reclaim_begin", 307, request)};
}

class StallEvents : public testing::Test {
 protected:
  ByteBuilder record(std::uint16_t id) {
    ByteBuilder bytes(machine_);
    bytes.u16(id).u8(0).u8(0).u32(42);
    return bytes;
  }
  const Event& decode(const ByteBuilder& bytes) {
    decoder_.decode(bytes.get(), 1000, 1, 0, batch_);
    return batch_.back();
  }

  Machine machine_{};
  TraceInfo info_;
  RecordDecoder decoder_{parse_event_formats(formats(), info_.findings), ByteOrder::little, info_};
  EventBatch batch_;
};

TEST_F(StallEvents, BeginHasOrderAndFlags) {
  const Event& event = decode(record(300).u32(3).u32(0).u64(0xcc0));
  EXPECT_EQ(event.kind, EventKind::stall_begin);
  EXPECT_EQ(stall_kind(event), StallKind::direct_reclaim);
  EXPECT_EQ(event.order, 3);
  EXPECT_EQ(event.gfp_flags, 0xcc0u);
  EXPECT_EQ(event.tid, 42);
}

TEST_F(StallEvents, EndHasReclaimedPages) {
  const Event& event = decode(record(301).u64(70));
  EXPECT_EQ(event.kind, EventKind::stall_end);
  EXPECT_EQ(stall_kind(event), StallKind::direct_reclaim);
  EXPECT_EQ(reclaimed_pages(event), 70u);
}

TEST_F(StallEvents, SleepsHaveMicroseconds) {
  for (const ByteBuilder& bytes :
       {record(302).u32(1).u32(100'000).u32(40'000).u32(2), record(306).u32(9).u32(40'000)}) {
    const Event& event = decode(bytes);
    EXPECT_EQ(event.kind, EventKind::stall_mark);
    EXPECT_EQ(stall_kind(event), StallKind::throttled);
    EXPECT_EQ(waited_ns(event), 40'000'000u);
  }
}

TEST_F(StallEvents, CompactionRequestHasGfpMask) {
  const Event& event = decode(record(303).u32(9).u32(0).u64(0xc0).u32(1));
  EXPECT_EQ(stall_kind(event), StallKind::compaction_request);
  EXPECT_EQ(event.order, 9);
  EXPECT_EQ(event.gfp_flags, 0xc0u);
}

TEST_F(StallEvents, ScansHavePagesAndNode) {
  const Event& event = decode(record(304).u32(2).u32(0).u64(32).u64(7));
  EXPECT_EQ(stall_kind(event), StallKind::scan);
  EXPECT_EQ(event.node, 2);
  EXPECT_EQ(scanned_pages(event), 32u);
  EXPECT_EQ(reclaimed_pages(event), 7u);
}

TEST_F(StallEvents, VictimsAreProcesses) { EXPECT_EQ(victim_of(decode(record(305).u32(812))), 812); }

TEST_F(StallEvents, OtherSystemsHaveOtherEvents) {
  EXPECT_EQ(decode(record(307).u32(3).u32(0).u64(0xcc0)).kind, EventKind::other);
}

}  // namespace
}  // namespace kmt
