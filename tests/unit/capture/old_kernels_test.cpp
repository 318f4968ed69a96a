// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the choice of events, and the decoding of records, with the event descriptions of kernels that no virtual
// machine of tests/vm boots. They are those of include/trace/events/kmem.h and percpu.h in each kernel.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/temporary_folder.hpp"
#include "capture/features/events.hpp"
#include "formats/ftrace/record_decoder.hpp"
#include "support/byte_builder.hpp"

namespace kmt {
namespace {

using test::ByteBuilder;
using test::Machine;

using Fields = std::vector<std::pair<const char*, const char*>>;  // declaration, and "offset size signed"

const Fields kAlloc = {{"unsigned long call_site", "8 8 0"},
                       {"const void * ptr", "16 8 0"},
                       {"size_t bytes_req", "24 8 0"},
                       {"size_t bytes_alloc", "32 8 0"},
                       {"gfp_t gfp_flags", "40 4 0"}};
const Fields kFree = {{"unsigned long call_site", "8 8 0"}, {"const void * ptr", "16 8 0"}};

Fields with_node() {
  Fields fields = kAlloc;
  fields.emplace_back("int node", "44 4 1");
  return fields;
}

// The events of Linux 4.19 to 5.4. kmalloc has no node, and kmem_cache_free has no name of the cache.
std::map<std::string, Fields> events_of_4_19() {
  const Fields page = {{"unsigned long pfn", "8 8 0"}, {"unsigned int order", "16 4 0"}, {"int migratetype", "20 4 1"}};
  return {
      {"kmem/kmalloc", kAlloc},
      {"kmem/kmalloc_node", with_node()},
      {"kmem/kmem_cache_alloc", kAlloc},
      {"kmem/kmem_cache_alloc_node", with_node()},
      {"kmem/kfree", kFree},
      {"kmem/kmem_cache_free", kFree},
      {"kmem/mm_page_free", {{"unsigned long pfn", "8 8 0"}, {"unsigned int order", "16 4 0"}}},
      {"kmem/mm_page_free_batched", {{"unsigned long pfn", "8 8 0"}}},
      {"kmem/mm_page_alloc",
       {{"unsigned long pfn", "8 8 0"},
        {"unsigned int order", "16 4 0"},
        {"gfp_t gfp_flags", "20 4 0"},
        {"int migratetype", "24 4 1"}}},
      {"kmem/mm_page_alloc_zone_locked", page},
      {"kmem/mm_page_pcpu_drain", page},
      {"kmem/mm_page_alloc_extfrag",
       {{"unsigned long pfn", "8 8 0"},
        {"int alloc_order", "16 4 1"},
        {"int fallback_order", "20 4 1"},
        {"int alloc_migratetype", "24 4 1"},
        {"int fallback_migratetype", "28 4 1"},
        {"int change_ownership", "32 4 1"}}},
      {"percpu/percpu_alloc_percpu_fail",
       {{"bool reserved", "8 1 0"},
        {"bool is_atomic", "9 1 0"},
        {"size_t size", "16 8 0"},
        {"size_t align", "24 8 0"}}},
      {"percpu/percpu_free_percpu", {{"void * base_addr", "8 8 0"}, {"int off", "16 4 1"}, {"void * ptr", "24 8 0"}}},
      {"percpu/percpu_alloc_percpu",
       {{"bool reserved", "8 1 0"},
        {"bool is_atomic", "9 1 0"},
        {"size_t size", "16 8 0"},
        {"size_t align", "24 8 0"},
        {"void * base_addr", "32 8 0"},
        {"int off", "40 4 1"},
        {"void * ptr", "48 8 0"}}}};
}

// Linux 5.5 added rss_stat, which is no allocation.
std::map<std::string, Fields> events_of_5_5() {
  auto events = events_of_4_19();
  events["kmem/rss_stat"] = {{"unsigned int mm_id", "8 4 0"},
                             {"unsigned int curr", "12 4 0"},
                             {"int member", "16 4 1"},
                             {"long size", "24 8 1"}};
  return events;
}

class OldKernel : public testing::TestWithParam<std::map<std::string, Fields>> {
 protected:
  OldKernel() {
    unsigned id = 100;
    for (const auto& [event, fields] : GetParam()) {
      const std::string folder = fmt::format("{}/events/{}", tracefs_.path(), event);
      std::filesystem::create_directories(folder);
      std::ofstream(folder + "/enable") << "0\n";
      std::string text = fmt::format("name: {}\nID: {}\nformat:\n", event.substr(event.find('/') + 1), ++id);
      text += "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n";
      text += "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n";
      text += "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n";
      text += "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
      for (const auto& [declaration, place] : fields) {
        unsigned offset = 0, size = 0, is_signed = 0;
        std::sscanf(place, "%u %u %u", &offset, &size, &is_signed);
        text += fmt::format("\tfield:{};\toffset:{};\tsize:{};\tsigned:{};\n", declaration, offset, size, is_signed);
      }
      std::ofstream(folder + "/format") << text << "\nprint fmt: \"%d\", REC->common_pid\n";
      ids_[event] = static_cast<std::uint16_t>(id);
      formats_.push_back({event.substr(0, event.find('/')), text + "\nprint fmt: \"%d\", REC->common_pid\n"});
    }
  }

  TemporaryFolder tracefs_{"kmemtrace-test-"};
  std::map<std::string, std::uint16_t> ids_;
  std::vector<FormatText> formats_;
};

TEST_P(OldKernel, EveryAllocatorIsRecorded) {
  const DefaultEvents chosen = default_events(tracefs_.path(), available_events(tracefs_.path()));
  std::vector<std::string> present;
  for (const EventName& event : chosen.present) present.push_back(to_string(event));
  EXPECT_EQ(present.size(), 15u) << fmt::format("{}", fmt::join(present, " "));
  EXPECT_EQ(std::ranges::count(present, "kmem:rss_stat"), 0);
  std::vector<std::string> missing;
  for (const MissingEvent& event : chosen.missing) missing.push_back(event.pattern);
  EXPECT_EQ(missing, (std::vector<std::string>{"vmalloc:alloc_vmap_area", "vmalloc:free_vmap_area_noflush"}))
      << "these events are since Linux 6.2";
}

TEST_P(OldKernel, RecordsAreDecoded) {
  TraceInfo info;
  const Machine machine;
  RecordDecoder decoder(parse_event_formats(formats_, info.findings), machine.order, info);
  EXPECT_TRUE(info.findings.kept().empty());
  ByteBuilder record(machine);
  record.u16(ids_["kmem/kmalloc_node"]).u8(0).u8(0).u32(77);
  record.u64(0xffffffff81000010).u64(0xffff888000001000).u64(100).u64(128).u32(0xcc0).u32(1);
  EventBatch batch;
  decoder.decode(record.get(), 5, 1, 0, batch);
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_EQ(batch[0].kind, EventKind::kmalloc);
  EXPECT_EQ(batch[0].address, 0xffff888000001000u);
  EXPECT_EQ(batch[0].bytes_requested, 100u);
  EXPECT_EQ(batch[0].bytes_allocated, 128u);
  EXPECT_EQ(batch[0].node, 1);
}

INSTANTIATE_TEST_SUITE_P(Kernels, OldKernel, testing::Values(events_of_4_19(), events_of_5_5()));

}  // namespace
}  // namespace kmt
