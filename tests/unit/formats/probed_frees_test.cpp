// SPDX-License-Identifier: GPL-2.0-or-later
// Tests hand-made records of kmemtrace's probes on kernel paths without a tracepoint.
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "formats/ftrace/record_decoder.hpp"
#include "formats/ftrace/stack_matcher.hpp"
#include "support/byte_builder.hpp"
#include "support/probe_record.hpp"

namespace kmt {
namespace {

using test::Machine;

constexpr std::uint16_t kBulk = 700, kRcu = 701, kNolock = 702, kAlloc = 703, kBulkAlloc = 704, kPages = 705,
                        kRange = 706;
constexpr unsigned kArrayLength = 4;

class ProbedFrees : public testing::TestWithParam<Machine> {
 protected:
  ProbedFrees() {
    info.machine.word_bits = 8 * machine.long_bytes;
    info.machine.cpus = 1;
    const std::vector<FormatText> formats = {
        description("free_bulk", kBulk, {"call_site", "cache", "count", fmt::format("objects[{}]", kArrayLength)}),
        description("free_rcu", kRcu, {"call_site", "head", "ptr"}),
        description("free_nolock", kNolock, {"call_site", "ptr"}),
        description("alloc_nolock", kAlloc, {"__probe_ret_ip", "bytes_req", "ptr"}),
        description("alloc_bulk", kBulkAlloc,
                    {"__probe_ret_ip", "cache", "gfp_flags", "count", "result",
                     fmt::format("objects[{}]", kArrayLength), "bytes_req", "bytes_alloc"}),
        description("alloc_pages_bulk", kPages,
                    {"__probe_ret_ip", "gfp_flags", "count", "first_page", "page_bytes",
                     fmt::format("objects[{}]", kArrayLength), fmt::format("more_objects[{}]", kArrayLength)}),
        description("alloc_page_range", kRange, {"__probe_ret_ip", "failed", "pfn", "end_pfn", "gfp_flags"})};
    decoder.emplace(parse_event_formats(formats, info.findings), machine.order, info);
    EXPECT_TRUE(info.findings.kept().empty());
  }

  // Returns the format of a kprobe event, as the kernel describes it. Fields are words, but `objects` is an array. The
  // events about several objects end with the name of the cache.
  FormatText description(const char* name, unsigned id, const std::vector<std::string>& fields) const {
    std::string text = fmt::format("name: {}\nID: {}\nformat:\n", name, id);
    text += "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n";
    text += "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n";
    text += "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n";
    text += "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
    unsigned at = 8;
    for (const std::string& field : fields) {
      const unsigned bytes = machine.long_bytes * (field.ends_with(']') ? kArrayLength : 1);
      text +=
          fmt::format("\tfield:u{} {};\toffset:{};\tsize:{};\tsigned:0;\n", 8 * machine.long_bytes, field, at, bytes);
      at += bytes;
    }
    if (id == kBulk || id == kBulkAlloc)
      text += fmt::format("\tfield:__data_loc char[] name;\toffset:{};\tsize:4;\tsigned:1;\n", at);
    return {"kmemtrace", text + "\nprint fmt: \"\"\n"};
  }

  std::vector<std::uint8_t> record(std::uint16_t id, const std::vector<std::uint64_t>& words,
                                   const std::string& name = "") const {
    return test::probe_record(machine, id, words, id == kBulk || id == kBulkAlloc ? &name : nullptr);
  }

  std::vector<std::uint64_t> addresses_of(const std::vector<std::uint8_t>& bytes) {
    events.clear();
    decoder->decode(bytes, 5, 0, 0, events);
    std::vector<std::uint64_t> addresses;
    for (const Event& event : events)
      if (event.kind != EventKind::other) addresses.push_back(event.address);
    return addresses;
  }

  // Adds a stack to the decoded events, as if it followed their record, and matches it.
  void match_stack(const std::vector<std::uint64_t>& frames) {
    Event stack{};
    stack.tid = 77;
    stack.stack = info.tables.stacks.add(frames);
    events.push_back(stack);
    UserStacks users(info);
    StackMatcher matcher(info, users);
    matcher.match(events);
  }

  using Addresses = std::vector<std::uint64_t>;
  const Machine machine = GetParam();
  TraceInfo info;
  std::optional<RecordDecoder> decoder;
  EventBatch events;
};

INSTANTIATE_TEST_SUITE_P(Machines, ProbedFrees,
                         testing::Values(Machine{ByteOrder::little, 8}, Machine{ByteOrder::big, 8},
                                         Machine{ByteOrder::little, 4}));

TEST_P(ProbedFrees, EachObjectOfABulkFreeIsAnEvent) {
  EXPECT_EQ(addresses_of(record(kBulk, {0x50, 0x900, 2, 0x1000, 0x2000, 0x3000, 0x4000}, "maple_node")),
            (Addresses{0x1000, 0x2000}));
  for (const Event& event : events) {
    EXPECT_EQ(event.kind, EventKind::bulk_free);
    EXPECT_EQ(info.tables.cache_names[event.cache.value], "maple_node");
    EXPECT_EQ(info.tables.call_sites[event.call_site.value], 0x50u);
    EXPECT_EQ(event.tid, 77);
  }
  EXPECT_EQ(info.findings.count_of(Imperfection::unrecorded_objects), 0u);
}

TEST_P(ProbedFrees, ObjectsAfterTheArrayAreCounted) {
  EXPECT_EQ(addresses_of(record(kBulk, {0x50, 0x900, 7, 1, 2, 3, 4}, "io_kiocb")), (Addresses{1, 2, 3, 4}));
  EXPECT_EQ(info.findings.count_of(Imperfection::unrecorded_objects), 3u);
  // Objects without a cache are not counted, because an event of kfree_rcu() has already reported them.
  EXPECT_EQ(addresses_of(record(kBulk, {0x50, 0, 500, 1, 2, 3, 4}, "garbage")), (Addresses{1, 2, 3, 4}));
  EXPECT_EQ(events.front().cache.value, 0u);
  EXPECT_EQ(info.findings.count_of(Imperfection::unrecorded_objects), 3u);
}

TEST_P(ProbedFrees, ABulkFreeOfNothingKeepsItsPlaceForAStack) {
  EXPECT_EQ(addresses_of(record(kBulk, {0x50, 0x900, 0, 1, 2, 3, 4})), Addresses{});
  EXPECT_EQ(events.size(), 1u);
}

TEST_P(ProbedFrees, ArgumentsOfKfreeRcuAreTheHeadAndTheObjectOrItsOffset) {
  EXPECT_EQ(addresses_of(record(kRcu, {0x50, 0x10008, 8})), Addresses{0x10000});        // Linux 6.1
  EXPECT_EQ(addresses_of(record(kRcu, {0x50, 0x10008, 0x10000})), Addresses{0x10000});  // Linux 6.2
  EXPECT_EQ(addresses_of(record(kRcu, {0x50, 0, 0x10000})), Addresses{0x10000});        // without an rcu_head
  EXPECT_EQ(events.front().kind, EventKind::rcu_free);
}

TEST_P(ProbedFrees, ObjectsOfKmallocNolock) {
  EXPECT_EQ(addresses_of(record(kAlloc, {0x60, 48, 0x7000})), Addresses{0x7000});
  EXPECT_EQ(events.front().kind, EventKind::kmalloc);
  EXPECT_EQ(events.front().bytes_requested, 48u);
  EXPECT_EQ(events.front().bytes_allocated, 48u);
  EXPECT_EQ(info.tables.call_sites[events.front().call_site.value], 0x60u);
  EXPECT_EQ(addresses_of(record(kNolock, {0x50, 0x7000})), Addresses{0x7000});
  EXPECT_EQ(events.front().kind, EventKind::bulk_free);
}

TEST_P(ProbedFrees, EachObjectOfABulkAllocationIsAnEvent) {
  const auto allocation = [this](std::uint64_t count, std::uint64_t result) {
    return record(kBulkAlloc, {0x60, 0x900, 0xCC0, count, result, 0x1000, 0x2000, 0x3000, 0x4000, 232, 256},
                  "io_kiocb");
  };
  EXPECT_EQ(addresses_of(allocation(3, 3)), (Addresses{0x1000, 0x2000, 0x3000}));
  for (const Event& event : events) {
    EXPECT_EQ(event.kind, EventKind::cache_alloc);
    EXPECT_EQ(event.bytes_requested, 232u);
    EXPECT_EQ(event.bytes_allocated, 256u);
    EXPECT_EQ(event.gfp_flags, 0xCC0u);
    EXPECT_EQ(info.tables.cache_names[event.cache.value], "io_kiocb");
    EXPECT_EQ(info.tables.call_sites[event.call_site.value], 0x60u);
  }
  EXPECT_EQ(info.findings.count_of(Imperfection::unrecorded_objects), 0u);
  EXPECT_EQ(addresses_of(allocation(16, 1)).size(), kArrayLength) << "since Linux 7.2, the result is true or false";
  EXPECT_EQ(info.findings.count_of(Imperfection::unrecorded_objects), 12u);
  EXPECT_EQ(addresses_of(allocation(3, 0)), Addresses{}) << "the allocation failed";
}

TEST_P(ProbedFrees, EachPageOfABulkAllocationIsAnEvent) {
  const std::uint64_t base = machine.long_bytes == 8 ? 0xffffea0000000000 : 0xc0000000;
  const auto page = [&](std::uint64_t frame) { return base + frame * 64; };
  EXPECT_EQ(
      addresses_of(record(kPages, {0x60, 0xCC0, 5, base, 64, page(7), page(9), page(8), page(20), page(21), 1, 2, 3})),
      (Addresses{7, 9, 8, 20, 21}))
      << "the second array continues the first one";
  for (const Event& event : events) {
    EXPECT_EQ(event.kind, EventKind::page_alloc);
    EXPECT_EQ(event.order, 0u);
    EXPECT_EQ(event.gfp_flags, 0xCC0u);
    EXPECT_EQ(event.migrate_type, -1);
    EXPECT_NE(event.page_flags & BulkFlags::kMayBeLive, 0);
    EXPECT_EQ(info.tables.call_sites[event.call_site.value], 0x60u);
  }
  EXPECT_EQ(info.recording.page_identity, PageIdentity::frame);
  EXPECT_EQ(info.findings.count_of(Imperfection::unrecorded_objects), 0u);
  // Linux 6.12 may return a list instead of an array, and the kernel cannot fetch the array's elements.
  EXPECT_EQ(addresses_of(record(kPages, {0x60, 0xCC0, 3, base, 64, 0, 0, 0, 0, 0, 0, 0, 0})), Addresses{});
  EXPECT_EQ(info.findings.count_of(Imperfection::unrecorded_objects), 3u);
}

TEST_P(ProbedFrees, PagesThatARecordCannotNameAreCounted) {
  const std::uint64_t base = machine.long_bytes == 8 ? 0xffffea0000000000 : 0xc0000000;
  addresses_of(record(kPages, {0x60, 0xCC0, 3, base, 64, base + 64, 1, base + 128, 0, 0, 0, 0, 0}));
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].address, 1u);
  EXPECT_EQ(events[1].address, 2u);
  EXPECT_EQ(info.findings.count_of(Imperfection::unrecorded_objects), 1u);
  match_stack({0x60, 0x61});
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(events[i].stack.value, 1u) << i;
  // If no page is known, an event of kind "other" takes the record's place and keeps its stack.
  addresses_of(record(kPages, {0x60, 0xCC0, 2, base, 64, 1, 2, 0, 0, 0, 0, 0, 0}));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, EventKind::other);
  EXPECT_EQ(events[0].page_flags, 0);
  EXPECT_EQ(info.findings.count_of(Imperfection::unrecorded_objects), 3u);
  const std::uint64_t page = base + 64;
  addresses_of(record(kPages, {0x60, 0xCC0, 12, base, 64, page, page, page, page, page, page, page, page}));
  EXPECT_EQ(events.size(), 8u);
  EXPECT_EQ(info.findings.count_of(Imperfection::unrecorded_objects), 7u);
}

TEST_P(ProbedFrees, ARangeOfPagesBecomesAlignedBlocks) {
  using Block = std::pair<std::uint64_t, unsigned>;
  const auto blocks_of = [&](std::uint64_t failed, std::uint64_t first, std::uint64_t end) {
    addresses_of(record(kRange, {0x60, failed, first, end, 0xCC0}));
    std::vector<Block> blocks;
    for (const Event& event : events) {
      if (event.kind == EventKind::other) continue;
      EXPECT_EQ(event.kind, EventKind::page_alloc);
      EXPECT_EQ(event.gfp_flags, 0xCC0u);
      EXPECT_EQ(event.migrate_type, -1);
      EXPECT_EQ(event.page_flags, blocks.empty() ? 0 : BulkFlags::kSameRecord);
      EXPECT_EQ(info.tables.call_sites[event.call_site.value], 0x60u);
      blocks.emplace_back(event.address, event.order);
    }
    return blocks;
  };
  EXPECT_EQ(blocks_of(0, 0x40000, 0x80000), (std::vector<Block>{{0x40000, 18}})) << "a huge page of 1 GiB";
  EXPECT_EQ(blocks_of(0, 5, 6), (std::vector<Block>{{5, 0}}));
  EXPECT_EQ(blocks_of(0, 6, 21), (std::vector<Block>{{6, 1}, {8, 3}, {16, 2}, {20, 0}}));
  EXPECT_EQ(blocks_of(0, 0, 0xC0000), (std::vector<Block>{{0, 18}, {0x40000, 18}, {0x80000, 18}}));
  EXPECT_EQ(info.findings.count_of(Imperfection::unrecorded_objects), 0u);
  for (const auto& [failed, end] : {std::pair{0xFFFFFFF0u, 0x80000u}, std::pair{0u, 0x40000u}, std::pair{0u, 7u}}) {
    EXPECT_EQ(blocks_of(failed, 0x40000, end), std::vector<Block>{});
    EXPECT_EQ(events.size(), 1u) << "the record's place keeps the stack";
  }
  // A damaged record may claim any number of pages.
  EXPECT_EQ(blocks_of(0, 0, std::uint64_t{257} << 18).size(), 256u);
  EXPECT_EQ(info.findings.count_of(Imperfection::unrecorded_objects), std::uint64_t{1} << 18);
}

TEST_P(ProbedFrees, ARecordThatIsTooShortIsReported) {
  std::vector<std::uint8_t> bytes = record(kBulk, {0x50, 0x900, 4, 1, 2, 3, 4}, "maple_node");
  bytes.resize(8 + 6 * machine.long_bytes);
  EXPECT_EQ(addresses_of(bytes), Addresses{});
  EXPECT_EQ(info.findings.count_of(Imperfection::short_record), 1u);
}

TEST_P(ProbedFrees, AllObjectsOfARecordHaveItsStack) {
  addresses_of(record(kBulk, {0x50, 0x900, 3, 0x1000, 0x2000, 0x3000, 0}, "maple_node"));
  match_stack({0x50, 0x51});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(events[i].stack.value, 1u) << i;
  EXPECT_EQ(info.findings.count_of(Imperfection::unmatched_stack), 0u);
}

}  // namespace
}  // namespace kmt
