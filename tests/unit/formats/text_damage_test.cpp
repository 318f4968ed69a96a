// SPDX-License-Identifier: GPL-2.0-or-later
// Tests damaged text traces: lines that start or end in the middle, lost line breaks, and lines that are there twice. A
// damaged line must be read completely or be counted as unreadable.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/registry.hpp"

namespace kmt {
namespace {

struct ReadText {
  std::vector<Event> events;
  TraceInfo info;
  std::uint64_t count_of(Imperfection kind) const { return info.findings.count_of(kind); }
  std::uint64_t unreadable() const { return count_of(Imperfection::unreadable_line); }
};

ReadText read(const std::string& text) {
  const auto source =
      open_trace(TraceFile{"a text", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, nullptr});
  ReadText read;
  for (EventBatch batch; source->read(batch);) read.events.insert(read.events.end(), batch.begin(), batch.end());
  read.info = source->info();
  return read;
}

std::size_t memory_events(const ReadText& text) {
  std::size_t count = 0;
  for (const Event& event : text.events) count += event.kind == EventKind::other ? 0 : 1;
  return count;
}

// An event of bash-812, as ftrace prints it, without a line end. `second` is 100 to 109.
std::string at(unsigned second, const std::string& event) {
  return "            bash-812     [001] d.h1.   " + std::to_string(second) + ".000001: " + event;
}
std::string kmalloc(unsigned number, const std::string& flags = "GFP_KERNEL") {
  return "kmalloc: call_site=foo+0x1/0x9 ptr=ffff8880012" + std::to_string(34500 + number) +
         " bytes_req=60 bytes_alloc=64 gfp_flags=" + flags + " node=-1 accounted=false";
}
std::string kfree(unsigned number) {
  return "kfree: call_site=bar+0x1/0x9 ptr=ffff8880012" + std::to_string(34500 + number);
}

TEST(TextDamage, LineEndsAndBytes) {
  const std::string lines = at(100, kmalloc(0)) + "\n" + at(101, kmalloc(1)) + "\n" + at(102, kfree(0)) + "\n";
  std::string carriage_returns = lines;
  for (char& c : carriage_returns) c = c == '\n' ? '\r' : c;
  EXPECT_EQ(read(carriage_returns).events.size(), 3u);
  EXPECT_EQ(read(carriage_returns).count_of(Imperfection::truncated_file), 0u);
  std::string zeros = lines;
  zeros.insert(lines.find('\n') + 1, 5, '\0');
  EXPECT_EQ(read(zeros).events.size(), 3u);
  EXPECT_EQ(read(zeros).count_of(Imperfection::truncated_file), 1u);
  std::string json = "{\"id\": 1, \"log\": \"";
  for (const char c : lines) json += c == '\n' ? std::string("\\n") : std::string(1, c);
  EXPECT_EQ(read(json + "\"}").events.size(), 3u);
}

}  // namespace
}  // namespace kmt
