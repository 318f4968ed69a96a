// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the relay files that kmemtraced writes: frees on kernel paths without a tracepoint have the type of their
// objects.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.hpp"
#include "formats/ftrace/format_text.hpp"
#include "formats/ftrace/page_writer.hpp"
#include "formats/registry.hpp"
#include "formats/relay/live_writer.hpp"
#include "support/byte_builder.hpp"
#include "support/probe_record.hpp"

namespace kmt {
namespace {

using test::Machine;

constexpr unsigned kPageBytes = 4096;
constexpr std::uint16_t kBulk = 700, kRcu = 701, kNolock = 702, kFree = 703;
const Machine kMachine{kHostOrder, 8};

// The format of a kprobe event, as the kernel describes it.
const char* const kBulkFormat =
    "name: free_bulk\nID: 700\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:u64 call_site;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:u64 cache;\toffset:16;\tsize:8;\tsigned:0;\n"
    "\tfield:u64 count;\toffset:24;\tsize:8;\tsigned:0;\n"
    "\tfield:u64 objects[2];\toffset:32;\tsize:16;\tsigned:0;\n"
    "\tfield:__data_loc char[] name;\toffset:48;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";

KernelDescription kernel_with_probes() {
  KernelDescription kernel;
  kernel.byte_order = kHostOrder;
  kernel.long_bytes = 8;
  kernel.sub_buffer_bytes = kPageBytes;
  kernel.header_page = header_page_text(8, kPageBytes);
  kernel.formats = {{"kmemtrace", kBulkFormat},
                    {"kmemtrace", format_text("free_rcu", kRcu, {{"call_site"}, {"head"}, {"ptr"}}, {})},
                    {"kmemtrace", format_text("free_nolock", kNolock, {{"call_site"}, {"ptr"}}, {})},
                    {"kmem", format_text("kmem_cache_free", kFree, {{"call_site"}, {"ptr"}}, {})}};
  return kernel;
}

std::vector<std::uint8_t> record(std::uint16_t id, const std::vector<std::uint64_t>& words,
                                 const std::string& name = "") {
  return test::probe_record(kMachine, id, words, id == kBulk ? &name : nullptr);
}

// Makes a folder, which is removed after the test.
class RelayWriter : public testing::Test {
 protected:
  RelayWriter() : folder_(std::filesystem::temp_directory_path() / ("kmemtrace-writer-" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~RelayWriter() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(RelayWriter, ProbedFreesHaveTheTypeOfTheirObjects) {
  relay::LiveWriter writer(folder_, kernel_with_probes(), {0});
  PageWriter pages({kHostOrder, 8, kPageBytes}, [&](const std::vector<std::uint8_t>& page) { writer.pages(0, page); });
  std::uint64_t time = 1000;
  for (const auto& bytes :
       {record(kBulk, {0x50, 0x900, 2, 0x1000, 0x2000}, "maple_node"),
        record(kBulk, {0x50, 0x900, 1, 0x3000, 0}, "dma-kmalloc-96"), record(kBulk, {0x50, 0, 2, 0x4000, 0x5000}),
        record(kRcu, {0x50, 0, 0x6000}), record(kNolock, {0x50, 0x7000}), record(kFree, {0x50, 0x8000})})
    ASSERT_TRUE(pages.record(time += 10, bytes));
  pages.finish();
  writer.finish();
  EXPECT_EQ(writer.repeated_frees(), 2u) << "objects of kfree_rcu()";

  OpenOptions options;
  options.abi = kHostOrder == ByteOrder::little ? "v1-le" : "v1-be";
  const std::string path = folder_ / "cpu0.out";
  const auto file = std::make_shared<const MappedFile>(path);
  const auto source = open_trace(TraceFile{path, file->bytes(), file}, options);
  std::vector<std::pair<EventKind, std::uint64_t>> frees;
  for (EventBatch batch; source->read(batch);)
    for (const Event& event : batch) frees.emplace_back(event.kind, event.address);
  using enum EventKind;
  EXPECT_EQ(frees, (std::vector<std::pair<EventKind, std::uint64_t>>{{cache_free, 0x1000},
                                                                     {cache_free, 0x2000},
                                                                     {kfree, 0x3000},
                                                                     {kfree, 0x6000},
                                                                     {kfree, 0x7000},
                                                                     {cache_free, 0x8000}}));
}

}  // namespace
}  // namespace kmt
