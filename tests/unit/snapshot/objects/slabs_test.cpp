// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/objects/slabs.hpp"
#include "snapshot/objects/vmcoreinfo.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include <elf.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "snapshot/objects/kcore.hpp"
#include "snapshot/objects/lists.hpp"
#include "snapshot/objects/sample.hpp"
#include "support/byte_builder.hpp"

namespace kmt {
namespace {

// The memory of a kernel with one cache of 64-byte objects, and one slab of eight objects.
class FakeKernel : public KernelReader {
 public:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kDirectMap = 0xffff'8880'0000'0000;
  static constexpr std::uint64_t kVmemmap = 0xffff'ea00'0000'0000;
  static constexpr std::uint64_t kImage = 0xffff'ffff'8100'0000;
  static constexpr std::uint64_t kCaches = kImage + 0x100;
  static constexpr std::uint64_t kCpuOffsets = kImage + 0x200;
  static constexpr std::uint64_t kCache = kDirectMap + 0x1000;
  static constexpr std::uint64_t kName = kDirectMap + 0x2000;
  static constexpr std::uint64_t kFrame = 5;
  static constexpr std::uint64_t kSlab = kDirectMap + kFrame * kPage;
  static constexpr std::uint64_t kKey = 0x1234'5678'9abc'def0;
  static constexpr std::uint64_t kSize = 64;

  FakeKernel() {
    layout.page_bytes = 64;
    layout.slab_cache = {8, 8};
    layout.slab_freelist = {16, 8};
    layout.slab_inuse = {24, 4, 0, 16};
    layout.slab_objects = {24, 4, 16, 15};
    layout.slab_frozen = MemberPlace{24, 4, 31, 1};
    layout.size = {0, 4};
    layout.object_size = {4, 4};
    layout.free_pointer = {8, 4};
    layout.name = {16, 8};
    layout.list = {24, 16};
    layout.random = MemberPlace{48, 8};
    layout.cpu_slab = MemberPlace{56, 8};
    layout.cpu_freelist = MemberPlace{0, 8};
    layout.nodes = {64, 8, 0, 0, 8};
    addresses = {kCaches, kVmemmap, kDirectMap, kCpuOffsets, kImage, kImage + 0x10'0000, 0, 0, 1, 1};
    for (const std::uint64_t page : {kImage, kDirectMap + 0x1000, kName, kSlab, kVmemmap, kDirectMap + 0x8000})
      pages_[page].resize(kPage);
    put(kCaches, kCache + 24);
    put(kCache, kSize | kSize << 32);
    put(kCache + 8, 32);  // free_pointer
    put(kCache + 16, kName);
    put(kCache + 24, kCaches);
    put(kCache + 48, kKey);
    put(kCache + 56, 0x8000);  // per-CPU offset of the list of free objects
    put(kCpuOffsets, kDirectMap);
    std::memcpy(pages_[kName].data(), "test_cache", 11);
    put(page() + 8, kCache);
    set_counters(8, 8);
  }

  bool read(std::uint64_t address, std::span<std::uint8_t> bytes) override {
    auto found = pages_.upper_bound(address);
    if (found == pages_.begin()) return false;
    --found;
    const std::uint64_t offset = address - found->first;
    if (offset >= kPage || bytes.size() > kPage - offset) return false;
    std::memcpy(bytes.data(), found->second.data() + offset, bytes.size());
    return true;
  }
  void put(std::uint64_t address, std::uint64_t value) {
    auto found = --pages_.upper_bound(address);
    store(found->second.data() + (address - found->first), value, kHostOrder);
  }
  void set_counters(std::uint64_t in_use, std::uint64_t objects, bool is_frozen = false) {
    put(page() + 24, in_use | objects << 16 | std::uint64_t{is_frozen} << 31);
  }
  // Frees objects: hides each pointer as CONFIG_SLAB_FREELIST_HARDENED does. Returns the first of the list.
  std::uint64_t make_list(const std::vector<unsigned>& indexes) {
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      const std::uint64_t at = object(indexes[i]) + 32;
      const std::uint64_t next = i + 1 < indexes.size() ? object(indexes[i + 1]) : 0;
      put(at, next ^ kKey ^ __builtin_bswap64(at));
    }
    return object(indexes[0]);
  }
  static constexpr std::uint64_t object(unsigned index) { return kSlab + index * kSize; }
  static constexpr std::uint64_t page() { return kVmemmap + kFrame * 64; }

  SlubLayout layout;
  SlabAddresses addresses;

 private:
  std::map<std::uint64_t, std::vector<std::uint8_t>> pages_;
};

using Contents = std::variant<SlabContents, SlabFailure>;

std::string free_slots(const Contents& contents) {
  if (!std::holds_alternative<SlabContents>(contents)) return "unknown";
  std::string text;
  for (const bool is_free : std::get<SlabContents>(contents).is_free) text += is_free ? 'F' : 'x';
  return text;
}

std::optional<SlabFailure> failure_of(const Contents& contents) {
  const SlabFailure* const failure = std::get_if<SlabFailure>(&contents);
  return failure != nullptr ? std::optional(*failure) : std::nullopt;
}

TEST(Slabs, ReadTheListOfCaches) {
  FakeKernel kernel;
  const Slabs slabs(kernel, kernel.layout, kernel.addresses, FakeKernel::kPage);
  ASSERT_EQ(slabs.caches().size(), 1u);
  const SlabCache* const cache = slabs.cache_named("test_cache");
  ASSERT_NE(cache, nullptr);
  EXPECT_EQ(cache->size, 64u);
  EXPECT_EQ(cache->object_size, 64u);
  EXPECT_EQ(cache->free_pointer, 32u);
  EXPECT_EQ(slabs.cache_named("other"), nullptr);
}

TEST(Slabs, LeaveOutFreeObjectsOfAHardenedList) {
  FakeKernel kernel;
  kernel.put(FakeKernel::page() + 16, kernel.make_list({6, 1, 3}));
  kernel.set_counters(5, 8);
  Slabs slabs(kernel, kernel.layout, kernel.addresses, FakeKernel::kPage);
  EXPECT_EQ(free_slots(slabs.contents(*slabs.head(FakeKernel::kFrame), {})), "xFxFxxFx");
}

TEST(Slabs, LeaveOutFreeObjectsOfTheCpus) {
  FakeKernel kernel;
  kernel.put(FakeKernel::kDirectMap + 0x8000, kernel.make_list({0, 7}));
  kernel.set_counters(8, 8, true);
  Slabs slabs(kernel, kernel.layout, kernel.addresses, FakeKernel::kPage);
  const auto free = slabs.free_for_cpus(*slabs.cache_named("test_cache"));
  EXPECT_TRUE(free.is_whole);
  EXPECT_EQ(free_slots(slabs.contents(*slabs.head(FakeKernel::kFrame), free.objects)), "FxxxxxxF");
}

TEST(Slabs, SayThatListsOfTheCpusAreUnreadable) {
  FakeKernel kernel;
  kernel.put(FakeKernel::kCache + 56, FakeKernel::kDirectMap + 0x80'0000);
  kernel.set_counters(8, 8, true);
  Slabs slabs(kernel, kernel.layout, kernel.addresses, FakeKernel::kPage);
  const auto free = slabs.free_for_cpus(*slabs.cache_named("test_cache"));
  EXPECT_FALSE(free.is_whole);
  EXPECT_TRUE(free.objects.empty());
}

TEST(LimitedReader, LimitsAddressesAndBytes) {
  constexpr std::uint64_t kBegin = FakeKernel::kCache;
  LimitedReader memory(std::make_unique<FakeKernel>(), 64);
  std::vector<std::uint8_t> bytes(16);
  EXPECT_TRUE(memory.read(kBegin, bytes));
  memory.allow_only({{FakeKernel::kName, FakeKernel::kName + 8}, {kBegin, kBegin + 32}});
  EXPECT_TRUE(memory.read(kBegin + 16, bytes));
  for (const std::uint64_t address : {kBegin - 1, kBegin + 17, kBegin + 32, FakeKernel::kName, std::uint64_t{0}})
    EXPECT_FALSE(memory.read(address, bytes)) << address - kBegin;
  EXPECT_FALSE(memory.is_exhausted());
  EXPECT_EQ(memory.bytes_read(), 32u);
  bytes.resize(32);
  EXPECT_TRUE(memory.read(kBegin, bytes));
  EXPECT_FALSE(memory.read(kBegin, std::span(bytes).first(1)));
  EXPECT_TRUE(memory.is_exhausted());
  EXPECT_EQ(memory.bytes_read(), 64u);
}

// A kernel whose CPU has a sheaf with objects 2 and 4. The barn of the node has a sheaf with object 5.
class KernelWithSheaves : public FakeKernel {
 public:
  static constexpr std::uint64_t kPlace = kDirectMap + 0x8000;  // the sheaves of the CPU
  static constexpr std::uint64_t kSheaf = kPlace + 0x100;
  static constexpr std::uint64_t kBarn = kPlace + 0x200;
  static constexpr std::uint64_t kFullSheaf = kPlace + 0x300;

  KernelWithSheaves() {
    layout.cpu_slab.reset();
    layout.cpu_sheaves = MemberPlace{56, 8};
    layout.main = {0, 8};
    layout.spare = {8, 8};
    layout.rcu_free = {16, 8};
    layout.sheaf_size = {24, 4};
    layout.sheaf_objects = {32, 0, 0, 0, 8};
    layout.sheaf_list = {0, 16};
    layout.barn_full = {8, 16};
    layout.barn = MemberPlace{0, 8};
    layout.barn_in_cache = true;
    put(kPlace, kSheaf);
    make_sheaf(kSheaf, {2, 4});
    put(kCache + 64, kBarn);
    put(kBarn + 8, kFullSheaf);
    put(kFullSheaf, kBarn + 8);
    make_sheaf(kFullSheaf, {5});
  }

 private:
  void make_sheaf(std::uint64_t at, std::initializer_list<unsigned> indexes) {
    put(at + 24, indexes.size());
    std::uint64_t place = at + 32;
    for (const unsigned index : indexes) {
      put(place, object(index));
      place += 8;
    }
  }
};

TEST(Slabs, LeaveOutFreeObjectsInSheaves) {
  KernelWithSheaves kernel;
  Slabs slabs(kernel, kernel.layout, kernel.addresses, FakeKernel::kPage);
  const auto free = slabs.free_for_cpus(*slabs.cache_named("test_cache"));
  EXPECT_TRUE(free.is_whole);
  EXPECT_EQ(free.objects.size(), 3u);
  for (const unsigned index : {2u, 4u, 5u}) EXPECT_TRUE(free.objects.contains(FakeKernel::object(index)));
}

TEST(Slabs, SayWhichSheavesAreUnreadable) {
  using Kernel = KernelWithSheaves;
  constexpr std::uint64_t kUnreadable = FakeKernel::kDirectMap + 0x80'0000;
  constexpr std::array<std::pair<std::uint64_t, std::uint64_t>, 7> kDamages = {{
      {Kernel::kCpuOffsets, kUnreadable},
      {Kernel::kPlace + 8, kUnreadable},      // a sheaf of the CPU
      {Kernel::kSheaf + 24, 5000},            // its number of objects
      {Kernel::kCache + 64, kUnreadable},     // the barn
      {Kernel::kBarn + 8, 0},                 // the list of full sheaves
      {Kernel::kFullSheaf, kUnreadable},      // its second element
      {Kernel::kFullSheaf + 24, 0xffff'ffff}  // the number of objects of the first
  }};
  for (const auto& [address, value] : kDamages) {
    Kernel kernel;
    kernel.put(address, value);
    Slabs slabs(kernel, kernel.layout, kernel.addresses, FakeKernel::kPage);
    EXPECT_FALSE(slabs.free_for_cpus(*slabs.cache_named("test_cache")).is_whole) << std::hex << address;
  }
}

TEST(Slabs, SayThatAListOfACpuIsCut) {
  FakeKernel kernel;
  kernel.put(FakeKernel::kDirectMap + 0x8000, kernel.make_list({0, 7}));
  kernel.put(FakeKernel::object(7) + 32, 1);  // the last pointer
  Slabs slabs(kernel, kernel.layout, kernel.addresses, FakeKernel::kPage);
  const auto free = slabs.free_for_cpus(*slabs.cache_named("test_cache"));
  EXPECT_FALSE(free.is_whole);
  EXPECT_TRUE(free.objects.contains(FakeKernel::object(7)));
}

TEST(Slabs, RefuseDamagedLists) {
  FakeKernel kernel;
  kernel.put(FakeKernel::page() + 16, kernel.make_list({6, 1}));
  kernel.set_counters(5, 8);  // three free objects, but the list has two
  Slabs slabs(kernel, kernel.layout, kernel.addresses, FakeKernel::kPage);
  EXPECT_EQ(failure_of(slabs.contents(*slabs.head(FakeKernel::kFrame), {})), SlabFailure::damaged);
  kernel.put(FakeKernel::object(1) + 32, 0x55);  // leads out of the slab
  EXPECT_EQ(failure_of(slabs.contents(*slabs.head(FakeKernel::kFrame), {})), SlabFailure::damaged);
  kernel.put(FakeKernel::page() + 16, kernel.make_list({6, 1, 6}));  // a circle
  EXPECT_EQ(failure_of(slabs.contents(*slabs.head(FakeKernel::kFrame), {})), SlabFailure::damaged);
}

TEST(Slabs, TellChangedFromUnreadableSlabs) {
  FakeKernel kernel;
  Slabs slabs(kernel, kernel.layout, kernel.addresses, FakeKernel::kPage);
  SlabHead head = *slabs.head(FakeKernel::kFrame);
  kernel.set_counters(7, 8);
  EXPECT_EQ(failure_of(slabs.contents(head, {})), SlabFailure::changed);
  head.frame = 7;  // the fake kernel has no memory there
  EXPECT_EQ(failure_of(slabs.contents(head, {})), SlabFailure::unreadable);
}

TEST(Slabs, FindTheObjectOfAnAddress) {
  FakeKernel kernel;
  Slabs slabs(kernel, kernel.layout, kernel.addresses, FakeKernel::kPage);
  const auto place = slabs.find(FakeKernel::object(3) + 17);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->object, FakeKernel::object(3));
  EXPECT_EQ(place->offset, 17u);
  EXPECT_FALSE(slabs.find(FakeKernel::object(8)));  // after the last object
  EXPECT_FALSE(slabs.find(FakeKernel::kDirectMap + 9 * FakeKernel::kPage));
}

TEST(Slabs, NeedACacheList) {
  FakeKernel kernel;
  kernel.put(FakeKernel::kCaches, 0);
  EXPECT_THROW(Slabs(kernel, kernel.layout, kernel.addresses, FakeKernel::kPage), Error);
}

TEST(Slabs, NeedTheWholeCacheList) {
  FakeKernel kernel;
  kernel.put(FakeKernel::kCache + 24, 0xffff'c900'0000'0000);  // nothing is there
  EXPECT_THROW(Slabs(kernel, kernel.layout, kernel.addresses, FakeKernel::kPage), Error);
}

// The slabs of a cache with an impossible size must not be read as those of the next cache.
TEST(Slabs, LeaveOutDamagedCaches) {
  FakeKernel kernel;
  constexpr std::uint64_t kDamaged = FakeKernel::kCache + 0x100;
  kernel.put(FakeKernel::kCaches, kDamaged + 24);
  kernel.put(kDamaged + 24, FakeKernel::kCache + 24);
  kernel.put(kDamaged + 16, FakeKernel::kName);
  kernel.put(FakeKernel::page() + 8, kDamaged);
  Slabs slabs(kernel, kernel.layout, kernel.addresses, FakeKernel::kPage);
  EXPECT_EQ(slabs.caches().size(), 1u);
  EXPECT_EQ(slabs.cache_at(kDamaged), nullptr);
  EXPECT_FALSE(slabs.head(FakeKernel::kFrame));
}

TEST(ObjectSampling, ClassifiesWords) {
  FakeKernel kernel;
  constexpr std::uint64_t kAt = FakeKernel::object(2);
  kernel.put(kAt, kAt);  // an empty list
  kernel.put(kAt + 8, kAt);
  kernel.put(kAt + 16, FakeKernel::kImage + 0x500);
  kernel.put(kAt + 24, FakeKernel::object(4) + 8);
  kernel.put(kAt + 32, 77);
  kernel.put(kAt + 40, 0x0066'6f6f'6261'7273);  // "sraboof"
  Slabs slabs(kernel, kernel.layout, kernel.addresses, FakeKernel::kPage);
  std::vector<std::uint8_t> bytes(64);
  ASSERT_TRUE(kernel.read(kAt, bytes));
  std::vector<NamedCache> caches;
  const ObjectSample object = describe_object(slabs, kernel, kernel.addresses, kAt, bytes, caches);
  ASSERT_EQ(object.words.size(), 8u);
  EXPECT_TRUE(object.words[0].is_list);
  EXPECT_TRUE(object.words[0].is_self);
  EXPECT_FALSE(object.words[1].is_list);
  EXPECT_EQ(object.words[2].kind, WordContent::symbol);
  EXPECT_EQ(object.words[3].kind, WordContent::object);
  EXPECT_EQ(object.words[3].target_offset, 8u);
  EXPECT_EQ(object.words[4].kind, WordContent::number);
  EXPECT_EQ(object.words[4].value, 0u);  // contents are not kept
  EXPECT_EQ(object.words[5].kind, WordContent::text);
  EXPECT_EQ(object.words[5].value, 0u);
  EXPECT_EQ(object.words[6].kind, WordContent::zero);
  ASSERT_EQ(caches.size(), 1u);
  EXPECT_EQ(caches[0].name, "test_cache");
}

// The values were computed from arch/arm64/include/asm/memory.h, for RAM that starts at 1 GiB. The first ones are for
// Linux 6.1 with 48 bits, and the second ones for Linux 6.12 with 52 bits on a processor with 48 bits.
TEST(Vmcoreinfo, HasTheDirectMapOfArm64) {
  const auto map = arm64_direct_map(
      "OSRELEASE=6.1.0\nPAGESIZE=4096\nNUMBER(VA_BITS)=48\nNUMBER(VMEMMAP_START)=0xfffffc0000000000\n"
      "NUMBER(PHYS_OFFSET)=0x40000000\n",
      4096, 64);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->page_offset, 0xfffe'ffff'c000'0000u);
  EXPECT_EQ(map->vmemmap, 0xffff'fbff'ff00'0000u);
  // The first byte of RAM is at the start of the map, and its struct page at the start of vmemmap.
  EXPECT_EQ(map->page_offset + 0x4000'0000, 0xffff'0000'0000'0000u);
  EXPECT_EQ(map->vmemmap + 0x40000 * 64, 0xffff'fc00'0000'0000u);
  // PHYS_OFFSET is 0x4000'0000 - (2^52 - 2^48).
  const auto wide = arm64_direct_map(
      "NUMBER(VA_BITS)=52\nNUMBER(VMEMMAP_START)=0xffffc1ffc0000000\nNUMBER(PHYS_OFFSET)=0xfff1000040000000\n", 4096,
      64);
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->page_offset + 0x4000'0000, 0xffff'0000'0000'0000u);
  EXPECT_EQ(wide->vmemmap + 0x40000 * 64, 0xffff'c1ff'c000'0000u + (0xf'0000'0000'0000u >> 12) * 64);
}

TEST(Vmcoreinfo, WithoutAValueIsRefused) {
  EXPECT_FALSE(arm64_direct_map("", 4096, 64));
  EXPECT_FALSE(arm64_direct_map("NUMBER(VA_BITS)=48\nNUMBER(PHYS_OFFSET)=0x40000000\n", 4096, 64));
  EXPECT_FALSE(
      arm64_direct_map("NUMBER(VA_BITS)=64\nNUMBER(VMEMMAP_START)=0x1000\nNUMBER(PHYS_OFFSET)=0x0\n", 4096, 64));
}

// A list of the objects 0 to 7, with a head in the image.
class Lists : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kHead = FakeKernel::kImage + 0x600;
  Lists() {
    for (unsigned i = 0; i < 8; ++i) {
      kernel.put(FakeKernel::object(i), i < 7 ? FakeKernel::object(i + 1) : kHead);
      if (i % 2 == 0) links.insert(FakeKernel::object(i));
    }
    kernel.put(kHead, FakeKernel::object(0));
  }
  std::optional<std::uint64_t> head_from(unsigned object, std::uint64_t most_steps = 100) {
    const ListWalk walk{&kernel.addresses, &links, 3, most_steps};
    return shared_list_head(kernel, FakeKernel::object(object), walk, steps_left);
  }
  FakeKernel kernel;
  std::unordered_set<std::uint64_t> links;  // half of the objects are in the sample
  std::uint64_t steps_left = 1000;
};

TEST_F(Lists, AreFollowedToTheirHead) {
  EXPECT_EQ(head_from(0), kHead);
  EXPECT_EQ(steps_left, 992u);
  EXPECT_EQ(head_from(6), kHead) << "the other sampled objects are after the head";
}

TEST_F(Lists, NeedSeveralSampledObjects) {
  links = {FakeKernel::object(6)};
  EXPECT_EQ(head_from(6), std::nullopt);
  links = {FakeKernel::object(6), FakeKernel::object(2)};
  EXPECT_EQ(head_from(6), std::nullopt);
}

TEST_F(Lists, AreFollowedOnlySoFar) {
  EXPECT_EQ(head_from(0, 7), std::nullopt);
  EXPECT_EQ(steps_left, 993u);
  steps_left = 5;
  EXPECT_EQ(head_from(0), std::nullopt);
  EXPECT_EQ(steps_left, 0u);
}

TEST_F(Lists, MayLackAHeadOrLeaveTheMemory) {
  kernel.put(FakeKernel::object(7), FakeKernel::object(0));
  EXPECT_EQ(head_from(0), std::nullopt);
  kernel.put(FakeKernel::object(3), 0xdead'0000'0000'0100);  // LIST_POISON1
  EXPECT_EQ(head_from(0), std::nullopt);
  kernel.put(FakeKernel::object(3), 0x100);
  EXPECT_EQ(head_from(0), std::nullopt);
}

TEST(SlabCollections, TakeSlabsFromAllChunks) {
  SlabCollection found(10);
  for (std::uint64_t chunk = 0; chunk < 5; ++chunk) {
    SlabsOfChunk slabs;
    for (std::uint64_t i = 0; i < 100; ++i) slabs.frames.push_back(chunk * 512 + i);
    if (!found.is_enough()) found.add(std::move(slabs));
  }
  const auto chosen = found.choose();
  EXPECT_EQ(chosen.size(), 16u);  // eight of each of two chunks
  EXPECT_EQ(found.found(), 200u);
  double weight = 0;
  for (const auto& slab : chosen) weight += slab.weight;
  EXPECT_DOUBLE_EQ(weight, 200);
}

TEST(SlabCollections, OrderIsTheSameInEachRun) {
  const auto order = shuffled(100);
  EXPECT_EQ(order, shuffled(100));
  EXPECT_FALSE(std::ranges::is_sorted(order));
  EXPECT_EQ(std::set<std::uint64_t>(order.begin(), order.end()).size(), 100u);
}

test::ByteBuilder core_file(std::uint16_t segments) {
  test::ByteBuilder file({kHostOrder, 8});
  file.text(ELFMAG).u8(ELFCLASS64).u8(kHostOrder == ByteOrder::little ? ELFDATA2LSB : ELFDATA2MSB).u8(1);
  file.pad_to(16).u16(ET_CORE).u16(EM_X86_64).u32(1).u64(0).u64(64).u64(0).u32(0).u16(64).u16(56).u16(segments);
  return file.pad_to(64);
}

TEST(Kcore, ReadsSegments) {
  test::ByteBuilder file = core_file(2);
  file.u32(PT_NOTE).u32(0).u64(0x200).u64(0).u64(0).u64(5).u64(0).u64(0);
  file.u32(PT_LOAD).u32(7).u64(0x1000).u64(0xffff'8880'0000'0000).u64(0x2000).u64(0x5000).u64(0x5000).u64(0x1000);
  EXPECT_EQ(core_segments(file.get()), (std::vector<CoreSegment>{{0xffff'8880'0000'0000, 0x5000, 0x1000, 0x2000}}));
}

TEST(Kcore, RefusesDamagedHeaders) {
  EXPECT_THROW(core_segments(core_file(3).get()), Error);  // the segments are missing
  std::vector<std::uint8_t> other = core_file(0).get();
  EXPECT_TRUE(core_segments(other).empty());
  other[EI_CLASS] = ELFCLASS32;
  EXPECT_THROW(core_segments(other), Error);
  EXPECT_THROW(core_segments(Bytes(other).first(10)), Error);
}

}  // namespace
}  // namespace kmt
