// SPDX-License-Identifier: GPL-2.0-or-later
// Tests hand-made percpu and vmalloc records. Their layouts are those of include/trace/events/percpu.h and vmalloc.h in
// several kernels.
#include "formats/ftrace/record_decoder.hpp"

#include <optional>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "support/byte_builder.hpp"

namespace kmt {
namespace {

using test::ByteBuilder;
using test::Machine;

struct FieldLine {
  const char* declaration;
  unsigned offset_64;
  unsigned offset_32;
  unsigned bytes;  // size of the field; 0: a word
};

constexpr std::uint16_t kAlloc = 645, kFail = 643, kFree = 644, kArea = 716, kAreaFree = 714, kOldAlloc = 500;

std::string description(Machine machine, const char* name, unsigned id, const std::vector<FieldLine>& fields) {
  std::string text = fmt::format("name: {}\nID: {}\nformat:\n", name, id);
  text += "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n";
  text += "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n";
  text += "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n";
  text += "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
  for (const FieldLine& field : fields)
    text += fmt::format("\tfield:{};\toffset:{};\tsize:{};\tsigned:0;\n", field.declaration,
                        machine.long_bytes == 8 ? field.offset_64 : field.offset_32,
                        field.bytes == 0 ? machine.long_bytes : field.bytes);
  return text + "\nprint fmt: \"size=%zu\", REC->size\n";
}

std::vector<FormatText> descriptions(Machine machine) {
  return {{"percpu", description(machine, "percpu_alloc_percpu", kAlloc,
                                 {{"unsigned long call_site", 8, 8, 0},
                                  {"bool reserved", 16, 12, 1},
                                  {"bool is_atomic", 17, 13, 1},
                                  {"size_t size", 24, 16, 0},
                                  {"size_t align", 32, 20, 0},
                                  {"void * base_addr", 40, 24, 0},
                                  {"int off", 48, 28, 4},
                                  {"void __seg_gs * ptr", 56, 32, 0},
                                  {"size_t bytes_alloc", 64, 36, 0},
                                  {"unsigned long gfp_flags", 72, 40, 0}})},
          {"percpu", description(machine, "percpu_alloc_percpu_fail", kFail,
                                 {{"bool reserved", 8, 8, 1},
                                  {"bool is_atomic", 9, 9, 1},
                                  {"size_t size", 16, 12, 0},
                                  {"size_t align", 24, 16, 0}})},
          {"percpu",
           description(machine, "percpu_free_percpu", kFree,
                       {{"void * base_addr", 8, 8, 0}, {"int off", 16, 12, 4}, {"void __seg_gs * ptr", 24, 16, 0}})},
          {"vmalloc", description(machine, "alloc_vmap_area", kArea,
                                  {{"unsigned long addr", 8, 8, 0},
                                   {"unsigned long size", 16, 12, 0},
                                   {"unsigned long align", 24, 16, 0},
                                   {"unsigned long vstart", 32, 20, 0},
                                   {"unsigned long vend", 40, 24, 0},
                                   {"int failed", 48, 28, 4}})},
          {"vmalloc", description(machine, "free_vmap_area_noflush", kAreaFree,
                                  {{"unsigned long va_start", 8, 8, 0},
                                   {"unsigned long nr_lazy", 16, 12, 0},
                                   {"unsigned long nr_lazy_max", 24, 16, 0}})},
          // An event of another system with the name of a percpu or vmalloc event.
          {"other", description(machine, "percpu_free_percpu", 900, {{"void * ptr", 8, 8, 0}})}};
}

// Returns the format of percpu allocations in Linux 4.13 to 5.18.
FormatText old_description(Machine machine) {
  return {"percpu", description(machine, "percpu_alloc_percpu", kOldAlloc,
                                {{"bool reserved", 8, 8, 1},
                                 {"bool is_atomic", 9, 9, 1},
                                 {"size_t size", 16, 12, 0},
                                 {"size_t align", 24, 16, 0},
                                 {"void * base_addr", 32, 20, 0},
                                 {"int off", 40, 24, 4},
                                 {"void * ptr", 48, 28, 0}})};
}

class PercpuAndVmalloc : public testing::TestWithParam<Machine> {
 protected:
  PercpuAndVmalloc() {
    std::vector<FormatText> texts = descriptions(GetParam());
    texts.push_back(old_description(GetParam()));
    decoder.emplace(parse_event_formats(texts, info.findings), GetParam().order, info);
    EXPECT_TRUE(info.findings.kept().empty());
  }

  ByteBuilder record(std::uint16_t id) const {
    ByteBuilder bytes(GetParam());
    bytes.u16(id).u8(0x10).u8(0).u32(77);
    return bytes;
  }
  ByteBuilder& align(ByteBuilder& bytes) const { return bytes.align(GetParam().long_bytes); }

  Event decode(const ByteBuilder& bytes) {
    EventBatch batch;
    decoder->decode(bytes.get(), 5, 1, 0, batch);
    EXPECT_EQ(batch.size(), 1u);
    return batch.empty() ? Event{} : batch.front();
  }
  std::uint64_t call_site(const Event& event) const { return info.tables.call_sites[event.call_site.value]; }

  TraceInfo info;
  std::optional<RecordDecoder> decoder;
};

INSTANTIATE_TEST_SUITE_P(Machines, PercpuAndVmalloc,
                         testing::Values(Machine{ByteOrder::little, 8}, Machine{ByteOrder::big, 8},
                                         Machine{ByteOrder::little, 4}, Machine{ByteOrder::big, 4}));

TEST_P(PercpuAndVmalloc, AnAllocationHasItsCallSiteAndBothSizes) {
  ByteBuilder bytes = record(kAlloc);
  bytes.word(0x81000123).u8(0).u8(1);
  align(bytes).word(24).word(8).word(0xF0000000).u32(0x40);
  align(bytes).word(0x40500).word(240).word(0xdc0);
  const Event event = decode(bytes);
  EXPECT_EQ(event.kind, EventKind::percpu_alloc);
  EXPECT_EQ(event.address, 0x40500u);
  EXPECT_EQ(event.bytes_requested, 24u);
  EXPECT_EQ(event.bytes_allocated, 240u);
  EXPECT_EQ(event.gfp_flags, 0xdc0u);
  EXPECT_EQ(call_site(event), 0x81000123u);
  EXPECT_EQ(event.tid, 77);
  EXPECT_EQ(event.context, Context::kSoftIrq);
}

TEST_P(PercpuAndVmalloc, OldKernelsRecordFewerFields) {
  ByteBuilder bytes = record(kOldAlloc);
  bytes.u8(0).u8(1);
  align(bytes).word(24).word(8).word(0xF0000000).u32(0x40);
  align(bytes).word(0x40500);
  const Event event = decode(bytes);
  EXPECT_EQ(event.kind, EventKind::percpu_alloc);
  EXPECT_EQ(event.address, 0x40500u);
  EXPECT_EQ(event.bytes_requested, 24u);
  EXPECT_EQ(event.bytes_allocated, 0u);
  EXPECT_EQ(call_site(event), 0u);
}

TEST_P(PercpuAndVmalloc, AFailureIsAnAllocationOfNoAddress) {
  ByteBuilder bytes = record(kFail);
  bytes.u8(0).u8(1);
  align(bytes).word(32768).word(8);
  const Event event = decode(bytes);
  EXPECT_EQ(event.kind, EventKind::percpu_alloc);
  EXPECT_EQ(event.address, 0u);
  EXPECT_EQ(event.bytes_requested, 32768u);
}

TEST_P(PercpuAndVmalloc, AFreeHasThePointer) {
  ByteBuilder bytes = record(kFree);
  bytes.word(0xF0000000).u32(0x40);
  align(bytes).word(0x40500);
  const Event event = decode(bytes);
  EXPECT_EQ(event.kind, EventKind::percpu_free);
  EXPECT_EQ(event.address, 0x40500u);
}

TEST_P(PercpuAndVmalloc, AnAreaHasAnAddressUnlessItFailed) {
  ByteBuilder area = record(kArea);
  area.word(0xC9000000).word(20480).word(16384).word(0xC0000000).word(0xE0000000).u32(0);
  Event event = decode(area);
  EXPECT_EQ(event.kind, EventKind::vmap_alloc);
  EXPECT_EQ(event.address, 0xC9000000u);
  EXPECT_EQ(event.bytes_requested, 20480u);
  EXPECT_EQ(event.bytes_allocated, 20480u);
  EXPECT_EQ(call_site(event), 0u);

  ByteBuilder failed = record(kArea);
  failed.word(0xE0000000).word(20480).word(16384).word(0xC0000000).word(0xE0000000).u32(1);
  event = decode(failed);
  EXPECT_EQ(event.address, 0u);
  EXPECT_EQ(event.bytes_requested, 20480u);

  ByteBuilder freed = record(kAreaFree);
  freed.word(0xC9000000).word(5).word(4096);
  event = decode(freed);
  EXPECT_EQ(event.kind, EventKind::vmap_free);
  EXPECT_EQ(event.address, 0xC9000000u);
}

TEST_P(PercpuAndVmalloc, TheSystemIdentifiesTheEvent) {
  EXPECT_EQ(decode(record(900).word(0x40500)).kind, EventKind::other);
}

TEST_P(PercpuAndVmalloc, AShortRecordIsAFinding) {
  EventBatch batch;
  decoder->decode(record(kFree).word(0xF0000000).get(), 5, 1, 0, batch);
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(info.findings.count_of(Imperfection::short_record), 1u);
}

}  // namespace
}  // namespace kmt
