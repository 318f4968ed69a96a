// SPDX-License-Identifier: GPL-2.0-or-later
// Tests rings that BPF programs fill, and the records built from their contents, with hand-made bytes.
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "capture/bpf/calls/tracing_frames.hpp"
#include "capture/bpf/cpu_rings.hpp"
#include "capture/bpf/record_layout.hpp"

namespace kmt {
namespace {

constexpr std::uint64_t kBytes = 256;
constexpr std::uint64_t kLate = 1'000'000'000;

// A ring with the kernel's layout, and with additional space after its end.
class TestRing {
 public:
  kmt_ring* get() { return reinterpret_cast<kmt_ring*>(memory_.data()); }
  void put(std::uint64_t time, unsigned event, const std::vector<std::uint64_t>& words) {
    kmt_entry entry{time, 7, static_cast<unsigned char>(event), static_cast<unsigned char>(words.size()), 0, 0};
    std::uint8_t* const at = get()->data + (get()->head & (kBytes - 8));
    std::memcpy(at, &entry, sizeof entry);
    if (!words.empty()) std::memcpy(at + sizeof entry, words.data(), words.size() * 8);
    get()->head += sizeof entry + words.size() * 8;
    get()->begun = get()->head;
  }

 private:
  std::vector<std::uint64_t> memory_ = std::vector<std::uint64_t>((sizeof(kmt_ring) + kBytes + 256) / 8);
};

// (time, event, first word) of each entry
using Given = std::vector<std::tuple<std::uint64_t, unsigned, std::uint64_t>>;

struct Rings {
  TestRing a, b;
  CpuRings both{{a.get(), b.get()}, kBytes};
  Given given;
  CpuRings::Give give = [this](const kmt_entry& entry, const std::uint64_t* words) {
    given.emplace_back(entry.time_ns, entry.event, entry.words > 0 ? words[0] : 0);
  };
};

TEST(BpfRings, ReturnsEntriesOfAllRingsByTimeAtTheNextRead) {
  Rings rings;
  rings.a.put(10, 1, {100});
  rings.b.put(20, 2, {});
  rings.a.put(30, 1, {300});
  rings.both.take(kLate, rings.give);
  EXPECT_TRUE(rings.given.empty());
  rings.both.take(kLate, rings.give);
  EXPECT_EQ(rings.given, (Given{{10, 1, 100}, {20, 2, 0}, {30, 1, 300}}));
  EXPECT_EQ(rings.a.get()->tail, 2 * (sizeof(kmt_entry) + 8));
  EXPECT_EQ(rings.b.get()->tail, sizeof(kmt_entry));
}

TEST(BpfRings, DelaysEntriesThatMayFollowAnUnfinishedOne) {
  Rings rings;
  rings.a.put(10, 1, {1});
  rings.a.get()->begun = rings.a.get()->head + 1;
  rings.b.put(5, 2, {2});
  rings.b.put(40, 2, {3});
  rings.both.take(kLate, rings.give);
  rings.both.take(kLate, rings.give);
  EXPECT_EQ(rings.given, (Given{{5, 2, 2}, {10, 1, 1}}));
  rings.a.put(20, 1, {4});
  rings.both.take(kLate, rings.give);
  rings.both.take(kLate, rings.give);
  EXPECT_EQ(rings.given, (Given{{5, 2, 2}, {10, 1, 1}, {20, 1, 4}, {40, 2, 3}}));
}

TEST(BpfRings, DelaysRecentEntries) {
  Rings rings;
  rings.a.put(1'000'000, 1, {1});
  rings.both.take(1'000'010, rings.give);
  rings.both.take(1'000'010, rings.give);
  EXPECT_TRUE(rings.given.empty());
  rings.both.take(kLate, rings.give);
  rings.both.take(kLate, rings.give);
  EXPECT_EQ(rings.given.size(), 1u);
}

TEST(BpfRings, ReadsEntriesThatWrapAround) {
  Rings rings;
  std::uint64_t expected = 0;
  for (std::uint64_t i = 0; i < 40; ++i) {
    rings.a.put(i, 1, {i, i, i});
    rings.both.take(kLate, rings.give);
    rings.both.take(kLate, rings.give);
    ASSERT_EQ(rings.given.size(), i + 1);
    expected += i;
  }
  std::uint64_t sum = 0;
  for (const auto& [time, event, word] : rings.given) sum += word;
  EXPECT_EQ(sum, expected);
  EXPECT_EQ(rings.a.get()->tail, 40 * (sizeof(kmt_entry) + 24));
}

TEST(BpfRings, ReportsLossesInPlaceAndTheLastAtTheEnd) {
  Rings rings;
  rings.a.put(10, 1, {});
  rings.a.put(11, KMT_ENTRY_LOST, {5});
  rings.a.put(12, 1, {});
  rings.a.get()->lost = 3;
  rings.a.get()->lost_since_ns = 13;
  rings.a.get()->all_lost = 8;
  rings.both.take_rest(rings.give);
  EXPECT_EQ(rings.given, (Given{{10, 1, 0}, {11, KMT_ENTRY_LOST, 5}, {12, 1, 0}, {13, KMT_ENTRY_LOST, 3}}));
  EXPECT_EQ(rings.both.lost(), 8u);
}

TEST(BpfRings, CountsUnreadEntries) {
  Rings rings;
  rings.a.put(10, 1, {});
  rings.a.put(11, KMT_ENTRY_LOST, {5});
  rings.b.put(12, 1, {});
  EXPECT_EQ(rings.both.not_taken(), 2u);
}

TEST(BpfRings, RejectsInvalidEntries) {
  Rings rings;
  rings.a.put(10, 1, {});
  rings.a.get()->data[13] = 200;  // according to the number of words, the entry extends beyond the head
  EXPECT_THROW(rings.both.take_rest(rings.give), Error);
}

const std::string kAlloc =
    "name: kmem_cache_alloc\nID: 513\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n"
    "\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n"
    "\tfield:size_t bytes_req;\toffset:32;\tsize:8;\tsigned:0;\n"
    "\tfield:size_t bytes_alloc;\toffset:40;\tsize:8;\tsigned:0;\n"
    "\tfield:unsigned long gfp_flags;\toffset:48;\tsize:8;\tsigned:0;\n"
    "\tfield:int node;\toffset:56;\tsize:4;\tsigned:1;\n"
    "\tfield:bool accounted;\toffset:60;\tsize:1;\tsigned:0;\n"
    "\nprint fmt: \"%d\", REC->node\n";

template <typename T>
T at(const std::vector<std::uint8_t>& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::vector<std::uint8_t> build(const EventLayout& layout, const KernelTraits& kernel,
                                const std::vector<std::uint64_t>& words, const kmt_cache* caches) {
  std::vector<std::uint8_t> bytes(kMostRecordBytes);
  const kmt_entry entry{1, 812, 0, static_cast<unsigned char>(words.size()), 0x10, 0};
  bytes.resize(build_record(layout, kernel, entry, words.data(), caches, bytes.data()));
  return bytes;
}

TEST(BpfRecords, FollowTheKernelsDescriptions) {
  KernelTraits kernel;
  kernel.account_flag = 0x400000;
  kernel.cache_account_flag = 0x2000;
  const EventLayout layout =
      layout_of({"kmem", "kmem_cache_alloc"}, kAlloc, {"call_site", "ptr", "s", "gfp_flags", "node"}, kernel);
  EXPECT_FALSE(layout.is_kernel_record);
  EXPECT_EQ(layout.cache, 2);
  EXPECT_EQ(layout.description, kAlloc);
  std::vector<kmt_cache> caches(KMT_CACHES);
  caches[3] = {0xffff1000, 0, 192, 184, 0x2000, "filp"};
  const auto record = build(layout, kernel, {0xc0ffee, 0xffff8880, 3, 0xcc0, ~0ull}, caches.data());
  EXPECT_EQ(at<std::uint16_t>(record, 0), 513);
  EXPECT_EQ(record[2], 0x10);
  EXPECT_EQ(at<std::int32_t>(record, 4), 812);
  EXPECT_EQ(at<std::uint64_t>(record, 8), 0xc0ffeeu);
  EXPECT_EQ(at<std::uint64_t>(record, 16), 0xffff8880u);
  EXPECT_EQ(at<std::uint32_t>(record, 24), 64u | 5u << 16);
  EXPECT_STREQ(reinterpret_cast<const char*>(record.data()) + 64, "filp");
  EXPECT_EQ(at<std::uint64_t>(record, 32), 184u);
  EXPECT_EQ(at<std::uint64_t>(record, 40), 192u);
  EXPECT_EQ(at<std::uint64_t>(record, 48), 0xcc0u);
  EXPECT_EQ(at<std::int32_t>(record, 56), -1);
  EXPECT_EQ(record[60], 1);
  EXPECT_EQ(record.size(), 72u);
}

const std::string kPage =
    "name: mm_page_alloc\nID: 9\nformat:\n"
    "\tfield:unsigned long pfn;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:unsigned int order;\toffset:16;\tsize:4;\tsigned:0;\n\nprint fmt: \"\"\n";

TEST(BpfRecords, ContainPageFrameNumbers) {
  KernelTraits kernel;
  kernel.pages = PageTable{0xffffea0000000000, 64};
  const EventLayout layout = layout_of({"kmem", "mm_page_alloc"}, kPage, {"page", "order"}, kernel);
  EXPECT_FALSE(layout.is_kernel_record);
  EXPECT_EQ(at<std::uint64_t>(build(layout, kernel, {0xffffea0000000000 + 64 * 4711, 3}, nullptr), 8), 4711u);
  EXPECT_EQ(at<std::uint64_t>(build(layout, kernel, {0, 3}, nullptr), 8), ~0ull);  // the allocation failed
  EXPECT_EQ(at<std::uint32_t>(build(layout, kernel, {0, 3}, nullptr), 16), 3u);
}

TEST(BpfRecords, AreCopiedIfAFieldIsNoArgument) {
  const KernelTraits kernel;  // the location of struct pages is unknown
  const EventLayout layout = layout_of({"kmem", "mm_page_alloc"}, kPage, {"page", "order"}, kernel);
  EXPECT_TRUE(layout.is_kernel_record);
  EXPECT_EQ(layout.words, 2);
  const auto record = build(layout, kernel, {4711, 3}, nullptr);
  EXPECT_EQ(at<std::uint64_t>(record, 8), 4711u);
  EXPECT_EQ(at<std::uint32_t>(record, 16), 3u);
}

TEST(BpfRecords, MoveTextsAfterTheFieldsAndCheckOffsets) {
  const std::string format =
      "name: some\nID: 10\nformat:\n"
      "\tfield:__data_loc char[] text;\toffset:8;\tsize:4;\tsigned:0;\n\nprint fmt: \"\"\n";
  const EventLayout layout = layout_of({"any", "some"}, format, {}, {});
  EXPECT_EQ(layout.words, KMT_MOST_KERNEL_WORDS);
  std::vector<std::uint64_t> words(layout.words);
  words[0] = 12 | 4u << 16 | std::uint64_t{0x00636261} << 32;  // offset 12, size 4, text "abc"
  auto record = build(layout, {}, words, nullptr);
  const auto place = at<std::uint32_t>(record, 8);
  EXPECT_EQ(place >> 16, 4u);
  EXPECT_STREQ(reinterpret_cast<const char*>(record.data()) + (place & 0xFFFF), "abc");
  words[0] = 0xFFFFFFFF;
  record = build(layout, {}, words, nullptr);
  EXPECT_EQ(at<std::uint32_t>(record, 8) >> 16, 0u);
}

TEST(BpfRecords, WithoutADescriptionAreErrors) {
  EXPECT_THROW(layout_of({"any", "some"}, "name: some\nID: 10\nformat:\n\nprint fmt: \"\"\n", {}, {}), Error);
  EXPECT_THROW(layout_of({"any", "some"}, "", {}, {}), Error);
}

TEST(BpfStacks, StartAtTheFunctionWithTheTracepoint) {
  const TracingFrames frames(
      "ffff0000 T kmalloc\nffff1000 T __traceiter_kmalloc\nffff2000 T caller\nffff3000 T bpf_trace_run6\n"
      "ffff4000 T other\nffff8000 t bpf_prog_6deef7357e7b4530_take\t[bpf]\nffff9000 T last\n");
  const auto leading = [&frames](std::vector<std::uint64_t> of) { return frames.leading(of); };
  EXPECT_EQ(leading({0xffff8010, 0xffff3010, 0xffff1010, 0xffff0010, 0xffff2010}), 3u);
  EXPECT_EQ(leading({0xffff1010, 0xffff0010, 0xffff3010}), 1u)
      << "a function that frees a tracepoint is no tracing function";
  EXPECT_EQ(leading({0xffff0010, 0xffff2010}), 0u);
  EXPECT_EQ(leading({}), 0u);
}

}  // namespace
}  // namespace kmt
