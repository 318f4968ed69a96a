// SPDX-License-Identifier: GPL-2.0-or-later
// Compares the project's ring-buffer page walk with libtraceevent's kbuffer, record by record, on real traces.
#include <gtest/gtest.h>

extern "C" {  // the header lacks extern "C"
#include <traceevent/kbuffer.h>
}

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "formats/ftrace/event_format.hpp"
#include "formats/tracedat/file.hpp"
#include "formats/tracedat/pages.hpp"
#include "trace/ring_page.hpp"

namespace kmt {
namespace {

struct Record {
  std::uint64_t time;
  std::uint64_t offset;
  std::uint64_t size;
  bool operator==(const Record&) const = default;
};

void PrintTo(const Record& record, std::ostream* out) {
  *out << record.time << " ns, " << record.size << " bytes at " << record.offset;
}

struct PageRecords {
  std::vector<Record> records;
  bool missed_events = false;
  std::uint64_t missed_count = 0;  // 0 if unknown
};

PageRecords ours(Bytes page, const PageLayout& layout) {
  PageRecords found;
  const PageEnd end = walk_page(page, layout, [&](std::uint64_t time, Bytes payload, std::uint64_t offset) {
    found.records.push_back({time, offset, payload.size()});
  });
  EXPECT_EQ(end.damage, nullptr) << end.damage;
  found.missed_events = end.missed_events;
  found.missed_count = end.missed_count.value_or(0);
  return found;
}

PageRecords of_kbuffer(kbuffer* buffer, Bytes page) {
  PageRecords found;
  kbuffer_load_subbuffer(buffer, const_cast<std::uint8_t*>(page.data()));
  const int missed = kbuffer_missed_events(buffer);
  found.missed_events = missed != 0;
  found.missed_count = missed > 0 ? static_cast<std::uint64_t>(missed) : 0;
  unsigned long long time = 0;
  for (void* record = kbuffer_read_event(buffer, &time); record != nullptr; record = kbuffer_next_event(buffer, &time))
    found.records.push_back({time, static_cast<std::uint64_t>(static_cast<std::uint8_t*>(record) - page.data()),
                             static_cast<std::uint64_t>(kbuffer_event_size(buffer))});
  return found;
}

class KbufferTest : public testing::TestWithParam<const char*> {};

TEST_P(KbufferTest, FindsTheSameRecords) {
  const MappedFile file(std::string(std::getenv("KMEMTRACE_DATA")) + "/" + GetParam());
  Findings findings;
  const tracedat::FileContents contents = tracedat::parse_file(file.bytes(), findings);
  const unsigned long_bytes = long_bytes_of_header_page(contents.description.kernel.header_page);
  const std::unique_ptr<kbuffer, void (*)(kbuffer*)> buffer(
      kbuffer_alloc(long_bytes == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
                    contents.order() == ByteOrder::big ? KBUFFER_ENDIAN_BIG : KBUFFER_ENDIAN_LITTLE),
      kbuffer_free);

  tracedat::UnpackedMemory unpacked(file.bytes().size());
  std::size_t records = 0;
  ASSERT_EQ(contents.buffers.size(), 1u);
  for (const tracedat::CpuData& cpu : contents.buffers[0].cpus) {
    tracedat::Pages pages(file.bytes(), contents, contents.buffers[0], cpu, unpacked);
    for (Bytes page; pages.next(page);) {
      const PageRecords found = ours(page, {contents.order(), long_bytes, contents.buffers[0].page_size});
      const PageRecords expected = of_kbuffer(buffer.get(), page);
      ASSERT_EQ(found.records, expected.records) << "cpu " << cpu.cpu << ", page at " << pages.offset();
      EXPECT_EQ(found.missed_events, expected.missed_events);
      EXPECT_EQ(found.missed_count, expected.missed_count);
      records += found.records.size();
    }
  }
  EXPECT_GT(records, 900u);  // the smallest trace has more records
}

INSTANTIATE_TEST_SUITE_P(RealTraces, KbufferTest,
                         testing::Values("amd64/trace.dat", "amd64-5.10/trace.dat", "arm64/trace.dat", "i386/trace.dat",
                                         "s390x/trace.dat", "s390x/trace.lost.dat", "i386/trace.mono.dat",
                                         "s390x/trace.stack.dat"));

}  // namespace
}  // namespace kmt
