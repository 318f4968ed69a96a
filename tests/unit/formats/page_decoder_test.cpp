// SPDX-License-Identifier: GPL-2.0-or-later
// Tests hand-made records of the page allocator. Their layouts are those of include/trace/events/kmem.h in several
// kernels.
#include <optional>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "formats/ftrace/record_decoder.hpp"
#include "support/byte_builder.hpp"

namespace kmt {
namespace {

using test::ByteBuilder;
using test::Machine;

constexpr std::uint16_t kExtfrag = 539, kLocked = 541;

class PageRecords : public testing::TestWithParam<Machine> {
 protected:
  // Returns the description of an event with these fields, in this order. The first field is a word, the others are
  // ints.
  FormatText description(const char* name, unsigned id, const std::vector<std::string>& fields,
                         const std::string& print_format) const {
    std::string text = fmt::format("name: {}\nID: {}\nformat:\n", name, id);
    text += "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n";
    text += "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n";
    text += "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n";
    text += "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
    unsigned at = 8;
    for (const std::string& field : fields) {
      const unsigned bytes = at == 8 ? GetParam().long_bytes : 4;
      text += fmt::format("\tfield:{} {};\toffset:{};\tsize:{};\tsigned:0;\n", at == 8 ? "unsigned long" : "int", field,
                          at, bytes);
      at += bytes;
    }
    return {"kmem", text + "\nprint fmt: " + print_format + "\n"};
  }

  void describe(const FormatText& text) {
    info.machine.word_bits = 8 * GetParam().long_bytes;
    decoder.emplace(parse_event_formats({text}, info.findings), GetParam().order, info);
    ASSERT_TRUE(info.findings.kept().empty());
  }
  void describe_fallback() {
    describe(description(
        "mm_page_alloc_extfrag", kExtfrag,
        {"pfn", "alloc_order", "fallback_order", "alloc_migratetype", "fallback_migratetype", "change_ownership"},
        "\"pfn=0x%lx fallback_order=%d pageblock_order=%d\", REC->pfn, REC->fallback_order, (20 - 12)"));
  }

  Event decode(std::uint16_t id, std::uint64_t page, const std::vector<std::uint32_t>& values) {
    ByteBuilder bytes(GetParam());
    bytes.u16(id).u8(0).u8(0).u32(77).word(page);
    for (const std::uint32_t value : values) bytes.u32(value);
    EventBatch batch;
    decoder->decode(bytes.get(), 5, 1, 0, batch);
    EXPECT_EQ(batch.size(), 1u);
    return batch.empty() ? Event{} : batch.front();
  }

  TraceInfo info;
  std::optional<RecordDecoder> decoder;
};

INSTANTIATE_TEST_SUITE_P(Machines, PageRecords,
                         testing::Values(Machine{ByteOrder::little, 8}, Machine{ByteOrder::big, 8},
                                         Machine{ByteOrder::little, 4}, Machine{ByteOrder::big, 4}));

TEST_P(PageRecords, AFallbackHasBothOrdersAndTypes) {
  describe_fallback();
  const Event event = decode(kExtfrag, 0x2400, {1, 10, 2, 3, 0});
  EXPECT_EQ(event.kind, EventKind::page_alloc_extfrag);
  EXPECT_EQ(event.address, 0x2400u);
  EXPECT_EQ(event.order, 1);
  EXPECT_EQ(event.fallback_order, 10);
  EXPECT_EQ(event.migrate_type, 2);
  EXPECT_EQ(fallback_migrate_type(event), 3u);
  EXPECT_EQ(event.page_flags & PageFlags::kOwnershipChanged, 0);
  EXPECT_NE(decode(kExtfrag, 0x2400, {1, 10, 2, 3, 1}).page_flags & PageFlags::kOwnershipChanged, 0);
  EXPECT_EQ(info.machine.pageblock_order, 8u);
}

TEST_P(PageRecords, ImpossibleNumbersAreHarmless) {
  describe_fallback();
  const Event event = decode(kExtfrag, 0x2400, {0xFFFFFFFF, 0x80000000, 0xFFFFFFFF, 256, 7});
  EXPECT_EQ(event.order, 255);
  EXPECT_EQ(event.fallback_order, 255);
  EXPECT_EQ(event.migrate_type, -1);
  EXPECT_EQ(fallback_migrate_type(event), PageFlags::kMostFallbackType);
  EXPECT_NE(event.page_flags & PageFlags::kOwnershipChanged, 0);
}

// The layout of Linux 2.6.32 to 3.12.
TEST_P(PageRecords, AnOldFallbackChangesTheOwnerWhenBothTypesAreOne) {
  describe(description("mm_page_alloc_extfrag", kExtfrag,
                       {"page", "alloc_order", "fallback_order", "alloc_migratetype", "fallback_migratetype"},
                       "\"pageblock_order=%d\", pageblock_order"));
  EXPECT_EQ(decode(kExtfrag, 1, {0, 3, 2, 1}).page_flags & PageFlags::kOwnershipChanged, 0);
  EXPECT_NE(decode(kExtfrag, 1, {0, 3, 2, 2}).page_flags & PageFlags::kOwnershipChanged, 0);
  EXPECT_EQ(info.machine.pageblock_order, std::nullopt);
}

TEST_P(PageRecords, ARefillIsMarkedOrOfOrderZero) {
  describe(description("mm_page_alloc_zone_locked", kLocked, {"pfn", "order", "migratetype", "percpu_refill"}, "\"\""));
  EXPECT_EQ(decode(kLocked, 9, {0, 1, 0}).page_flags, 0);
  EXPECT_EQ(decode(kLocked, 9, {2, 1, 1}).page_flags, PageFlags::kPercpuRefill);
  describe(description("mm_page_alloc_zone_locked", kLocked, {"pfn", "order", "migratetype"}, "\"\""));
  EXPECT_EQ(decode(kLocked, 9, {0, 1}).page_flags, PageFlags::kPercpuRefill);
  EXPECT_EQ(decode(kLocked, 9, {2, 1}).page_flags, 0);
}

constexpr std::uint16_t kDirect = 542, kPagevec = 543;

// Tests page frees in Linux 2.6.32 to 3.2. One free may have two events.
class OldPageFrees : public PageRecords {
 protected:
  OldPageFrees() {
    info.machine.word_bits = 8 * GetParam().long_bytes;
    decoder.emplace(parse_event_formats({description("mm_page_free_direct", kDirect, {"page", "order"}, "\"\""),
                                         description("mm_pagevec_free", kPagevec, {"page", "cold"}, "\"\"")},
                                        info.findings),
                    GetParam().order, info);
  }
  EventKind kind_of(std::uint16_t id, std::uint64_t page, std::uint32_t order = 0) {
    return decode(id, page, {order}).kind;
  }
};

INSTANTIATE_TEST_SUITE_P(Machines, OldPageFrees,
                         testing::Values(Machine{ByteOrder::little, 8}, Machine{ByteOrder::big, 4}));

// Linux 2.6.32 and 2.6.33 have two tracepoints for most frees of single pages.
TEST_P(OldPageFrees, TwoEventsReportOneFree) {
  EXPECT_EQ(kind_of(kDirect, 0x1000), EventKind::page_free);
  EXPECT_EQ(kind_of(kDirect, 0x1000), EventKind::other);
  EXPECT_EQ(kind_of(kDirect, 0x1000), EventKind::page_free) << "a second free";
  EXPECT_EQ(kind_of(kDirect, 0x2000), EventKind::page_free);
  EXPECT_EQ(kind_of(kDirect, 0x3000, 1), EventKind::page_free);
  EXPECT_EQ(kind_of(kDirect, 0x3000, 1), EventKind::page_free) << "blocks have one event";
}

// Before Linux 2.6.34, mm_pagevec_free is the only event of a free. Later, mm_page_free_direct follows.
TEST_P(OldPageFrees, ABatchedFreeMayHaveASecondEvent) {
  EXPECT_EQ(kind_of(kPagevec, 0x1000), EventKind::page_free);
  EXPECT_EQ(kind_of(kPagevec, 0x2000), EventKind::page_free);
  EXPECT_EQ(kind_of(kDirect, 0x2000), EventKind::page_free_batched);
  EXPECT_EQ(kind_of(kDirect, 0x2000), EventKind::page_free) << "a second free";
}

}  // namespace
}  // namespace kmt
