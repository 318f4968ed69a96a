// SPDX-License-Identifier: GPL-2.0-or-later
// Tests which allocations count as charged to a memory control group. The layouts of the hand-made records are those of
// include/trace/events/kmem.h and percpu.h in Linux 6.18.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "analysis/matching/charging.hpp"
#include "formats/ftrace/record_decoder.hpp"
#include "support/byte_builder.hpp"

namespace kmt {
namespace {

using test::ByteBuilder;
using test::Machine;

constexpr std::uint16_t kKmalloc = 658, kCacheAlloc = 659, kPages = 660, kPercpu = 661;
constexpr std::uint32_t kAccount = 1u << 22, kKernel = 0xCC0;

std::string format_of(const char* name, unsigned id, const std::string& fields, const std::string& print) {
  std::string text = fmt::format("name: {}\nID: {}\nformat:\n", name, id);
  text += "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n";
  text += "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n";
  text += "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n";
  text += "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
  return text + fields + "\nprint fmt: " + print + "\n";
}

std::string field(const char* declaration, unsigned offset, unsigned bytes) {
  return fmt::format("\tfield:{};\toffset:{};\tsize:{};\tsigned:0;\n", declaration, offset, bytes);
}

std::string slab_fields() {
  return field("unsigned long call_site", 8, 8) + field("const void * ptr", 16, 8) + field("size_t bytes_req", 24, 8) +
         field("size_t bytes_alloc", 32, 8) + field("unsigned long gfp_flags", 40, 8) + field("int node", 48, 4);
}

// Returns the print format of kmalloc. `config` is the value of IS_ENABLED(CONFIG_MEMCG) in it.
std::string kmalloc_print(const char* config) {
  return fmt::format(
      R"("call_site=%pS gfp_flags=%s accounted=%s", (void *)REC->call_site, (REC->gfp_flags) ? __print_flags()"
      R"(REC->gfp_flags, "|", {{( unsigned long)(0xCC0), "GFP_KERNEL"}}, {{( unsigned long)(( gfp_t)((((1UL))) << (22))), )"
      R"("__GFP_ACCOUNT"}} ) : "none", ({} && (REC->gfp_flags & ( unsigned long)(( gfp_t)((((1UL))) << (22))))) ? "true" : "false")",
      config);
}

class Accounted : public testing::Test {
 protected:
  void describe(const std::string& print, bool has_field = true) {
    const std::vector<FormatText> texts = {
        {"kmem", format_of("kmalloc", kKmalloc, slab_fields(), print)},
        {"kmem", format_of("kmem_cache_alloc", kCacheAlloc,
                           slab_fields() + (has_field ? field("bool accounted", 52, 1) : ""), "\"\"")},
        {"kmem", format_of("mm_page_alloc", kPages,
                           field("unsigned long pfn", 8, 8) + field("unsigned int order", 16, 4) +
                               field("unsigned long gfp_flags", 24, 8) + field("int migratetype", 32, 4),
                           "\"\"")},
        {"percpu",
         format_of("percpu_alloc_percpu", kPercpu,
                   field("unsigned long call_site", 8, 8) + field("size_t size", 16, 8) + field("void * ptr", 24, 8) +
                       field("size_t bytes_alloc", 32, 8) + field("unsigned long gfp_flags", 40, 8),
                   "\"\"")}};
    decoder_.emplace(parse_event_formats(texts, info_.findings), ByteOrder::little, info_);
    charging_.emplace(info_);
  }

  ByteBuilder record(std::uint16_t id) const {
    ByteBuilder bytes(Machine{ByteOrder::little, 8});
    bytes.u16(id).u8(0).u8(0).u32(77);
    return bytes;
  }
  ByteBuilder slab(std::uint16_t id, std::uint32_t gfp_flags, std::uint8_t accounted = 0) const {
    ByteBuilder bytes = record(id);
    bytes.word(0x81000123).word(0x8000).word(100).word(128).word(gfp_flags).u32(~0u).u8(accounted).align(8);
    return bytes;
  }
  Charge charge_of(const ByteBuilder& bytes) {
    EventBatch batch;
    decoder_->decode(bytes.get(), 5, 1, 0, batch);
    EXPECT_EQ(batch.size(), 1u);
    return charging_->charge_of(batch.front());
  }

  TraceInfo info_;
  std::optional<RecordDecoder> decoder_;
  std::optional<Charging> charging_;
};

TEST_F(Accounted, TheFieldDecidesForObjectsOfACache) {
  describe(kmalloc_print("1"));
  EXPECT_EQ(charge_of(slab(kCacheAlloc, kKernel, 1)), Charge::yes);  // the cache has SLAB_ACCOUNT
  EXPECT_EQ(charge_of(slab(kCacheAlloc, kKernel, 0)), Charge::no);
  EXPECT_EQ(charge_of(slab(kCacheAlloc, kKernel | kAccount, 0)), Charge::no);
}

TEST_F(Accounted, TheFlagDecidesForKmalloc) {
  describe(kmalloc_print("1"));
  EXPECT_EQ(charge_of(slab(kKmalloc, kKernel | kAccount)), Charge::yes);
  EXPECT_EQ(charge_of(slab(kKmalloc, kKernel, 1)), Charge::no);  // kmalloc has no field after `node`
}

TEST_F(Accounted, WithoutTheFieldACacheMayChargeItsObjects) {
  describe(kmalloc_print("1"), false);
  EXPECT_EQ(charge_of(slab(kCacheAlloc, kKernel | kAccount)), Charge::yes);
  EXPECT_EQ(charge_of(slab(kCacheAlloc, kKernel)), Charge::unknown);
}

TEST_F(Accounted, PagesWithoutTheFlagMayBeChargedLater) {
  describe(kmalloc_print("1"));
  const auto pages = [&](std::uint32_t flags) {
    return record(kPages).word(0x1000).u32(0).align(8).word(flags).u32(0);
  };
  EXPECT_EQ(charge_of(pages(kKernel | kAccount)), Charge::yes);
  EXPECT_EQ(charge_of(pages(kKernel)), Charge::unknown);
}

TEST_F(Accounted, PercpuMemoryHasOnlyFlags) {
  describe(kmalloc_print("1"));
  const auto percpu = [&](std::uint32_t flags) {
    return record(kPercpu).word(0x81000200).word(24).word(0x40500).word(48).word(flags);
  };
  EXPECT_EQ(charge_of(percpu(kKernel | kAccount)), Charge::yes);
  EXPECT_EQ(charge_of(percpu(kKernel)), Charge::no);
}

TEST_F(Accounted, AKernelWithoutControlGroupsChargesNothing) {
  describe(kmalloc_print("0"));
  EXPECT_EQ(charge_of(slab(kKmalloc, kKernel | kAccount)), Charge::no);
  EXPECT_EQ(charge_of(slab(kCacheAlloc, kKernel | kAccount)), Charge::no);
}

TEST_F(Accounted, IsUnknownWithoutNamesOfFlags) {
  describe("\"\"", false);
  EXPECT_EQ(charge_of(slab(kKmalloc, kKernel | kAccount)), Charge::unknown);
  EXPECT_EQ(charge_of(slab(kCacheAlloc, kKernel | kAccount)), Charge::unknown);
}

}  // namespace
}  // namespace kmt
