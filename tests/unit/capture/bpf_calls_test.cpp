// SPDX-License-Identifier: GPL-2.0-or-later
// Builds records of calls from hand-made entries of BPF programs, and reads them like the records of any trace.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "capture/bpf/calls/layout.hpp"
#include "capture/bpf/cpu_rings.hpp"
#include "capture/bpf/record_layout.hpp"
#include "capture/features/preemption.hpp"
#include "formats/ftrace/record_decoder.hpp"
#include "trace/calls/event.hpp"
#include "trace/calls/records.hpp"

namespace kmt {
namespace {

const std::vector<TracedFunction> kFunctions = {{"vfs_read", {}, 0xffffffff81000000, {}},
                                                {"do_sys_openat2", {}, 0xffffffff81002000, {}}};
const std::vector<FormatText> kOthers = {{"ftrace", "name: kernel_stack\nID: 4\nformat:\n\nprint fmt: \"\"\n"},
                                         {"kmem", "name: kfree\nID: 517\nformat:\n\nprint fmt: \"\"\n"}};

kmt_entry entry_of(unsigned event, std::size_t words, std::uint64_t time = 5000) {
  return {time, 812, static_cast<unsigned char>(event), static_cast<unsigned char>(words), 0x10, 0};
}

// Builds one record, and decodes it like a reader of the trace.
Event decode(const CallLayout& layout, const kmt_entry& entry, const std::vector<std::uint64_t>& words,
             TraceInfo& info) {
  std::vector<std::uint8_t> record(kMostRecordBytes);
  record.resize(layout.build_record(entry, words.data(), record.data()));
  Findings findings;
  RecordDecoder decoder(parse_event_formats(layout.formats(), findings), kHostOrder, info);
  EventBatch events;
  decoder.decode(record, entry.time_ns, 1, 0, events);
  EXPECT_EQ(events.size(), 1u);
  EXPECT_TRUE(info.findings.kept().empty());
  return events.empty() ? Event{} : events.front();
}

TEST(BpfCalls, AreReadUnchanged) {
  const CallLayout layout(kFunctions, kOthers);
  TraceInfo info;
  info.calls.records = std::make_shared<CallRecords>();
  const std::string values(
      "\x03\x00"
      "etc"
      "\xff\xff",
      7);
  std::vector<std::uint64_t> words = {KMT_CALL_WHAT(1, 3, values.size()), 11, 12, 13, 14, 15, ~0ull, 0};
  std::memcpy(&words[KMT_CALL_WORDS], values.data(), values.size());
  const CallEvent entry = as_call(decode(layout, entry_of(KMT_ENTRY_CALL, words.size()), words, info));
  EXPECT_EQ(entry.kind, EventKind::call_entry);
  EXPECT_EQ(entry.function, 0xffffffff81002000u);
  EXPECT_EQ(entry.tid, 812);
  EXPECT_EQ(entry.context, 0x10);
  EXPECT_EQ(entry.depth, 3u);
  ASSERT_NE(entry.record, 0u);
  const CallRecord record = info.calls.records->at(entry.record);
  EXPECT_EQ(record.registers, (std::vector<std::uint64_t>{11, 12, 13, 14, 15, ~0ull}));
  EXPECT_EQ(std::string(record.values.begin(), record.values.end()), values);

  const std::vector<std::uint64_t> end = {KMT_CALL_WHAT(1, 3, 0), 4000, ~0ull - 1};
  const CallEvent exit = as_call(decode(layout, entry_of(KMT_ENTRY_RETURN, end.size(), 9000), end, info));
  EXPECT_EQ(exit.kind, EventKind::call_exit);
  EXPECT_EQ(exit.function, 0xffffffff81002000u);
  EXPECT_EQ(exit.depth, 3u);
  EXPECT_EQ(exit.duration_ns, 5000u);
  EXPECT_EQ(exit.return_value, ~0ull - 1);
  EXPECT_EQ(exit.record, 0u);

  const std::string late("\x00\x00\x03\x00usr", 7);
  std::vector<std::uint64_t> with_late = {KMT_CALL_WHAT(1, 3, late.size()), 4000, 5, 0};
  std::memcpy(&with_late[KMT_RETURN_WORDS], late.data(), late.size());
  const CallEvent ended = as_call(decode(layout, entry_of(KMT_ENTRY_RETURN, with_late.size(), 9000), with_late, info));
  EXPECT_EQ(ended.return_value, 5u);
  ASSERT_NE(ended.record, 0u);
  const CallRecord read = info.calls.records->at(ended.record);
  EXPECT_EQ(std::string(read.values.begin(), read.values.end()), late);
}

// In a .kmt, events with equal fields share a shape, and a shape is decoded only once. Events with call records must
// not share one.
TEST(BpfCalls, AreDecodedSeparatelyIfArgumentsAreKept) {
  const CallLayout layout(kFunctions, kOthers);
  for (const auto event : {KMT_ENTRY_CALL, KMT_ENTRY_RETURN}) {
    std::vector<std::uint64_t> words(event == KMT_ENTRY_CALL ? KMT_CALL_WORDS : KMT_RETURN_WORDS);
    words[0] = KMT_CALL_WHAT(1, 3, 0);
    std::vector<std::uint8_t> record(kMostRecordBytes);
    record.resize(layout.build_record(entry_of(event, words.size()), words.data(), record.data()));
    for (const bool kept : {false, true}) {
      TraceInfo info;
      if (kept) info.calls.records = std::make_shared<CallRecords>();
      Findings findings;
      const RecordDecoder decoder(parse_event_formats(layout.formats(), findings), kHostOrder, info);
      EXPECT_EQ(decoder.is_decoded_by_shape(record), !kept) << event;
    }
  }
}

TEST(BpfCalls, HaveUniqueEventIds) {
  const CallLayout layout(kFunctions, kOthers);
  const std::vector<FormatText> formats = layout.formats();
  ASSERT_EQ(formats.size(), 2u);
  EXPECT_EQ(id_of_format(formats[0].text), 518);
  EXPECT_EQ(id_of_format(formats[1].text), 519);
  EXPECT_THROW(CallLayout(kFunctions, {{"kmem", "name: kfree\nID: 65535\nformat:\n\nprint fmt: \"\"\n"}}), Error);
}

TEST(BpfCalls, InvalidEntriesAreErrors) {
  const CallLayout layout(kFunctions, kOthers);
  std::vector<std::uint8_t> to(kMostRecordBytes);
  std::vector<std::uint64_t> words(KMT_CALL_WORDS + 1);
  const auto build = [&](unsigned event, std::size_t count) {
    layout.build_record(entry_of(event, count), words.data(), to.data());
  };
  words[0] = KMT_CALL_WHAT(2, 0, 0);  // the function number is invalid
  EXPECT_THROW(build(KMT_ENTRY_CALL, words.size()), Error);
  words[0] = KMT_CALL_WHAT(1, 0, 9);  // the values extend beyond the end of the entry
  EXPECT_THROW(build(KMT_ENTRY_CALL, words.size()), Error);
  words[0] = KMT_CALL_WHAT(1, 0, 0);
  EXPECT_THROW(build(KMT_ENTRY_CALL, KMT_CALL_WORDS - 1), Error);
  EXPECT_THROW(build(KMT_ENTRY_RETURN, KMT_RETURN_WORDS - 1), Error);
  EXPECT_THROW(build(KMT_ENTRY_RETURN, 0), Error);
  EXPECT_NO_THROW(build(KMT_ENTRY_CALL, KMT_CALL_WORDS));
}

TEST(BpfCalls, DoNotReadValuesBeyondTheEntry) {
  ValuePath path{"file->f_path.dentry->d_name.name", 0, {16, 40, 0}, 0, true, false, 2};
  const kmt_value value = table_entry_of(kFunctions[0], path);
  EXPECT_EQ(value.steps, 3);
  EXPECT_EQ(value.offsets[1], 40u);
  EXPECT_EQ(value.is_string, 1);
  EXPECT_EQ(value.is_user, 0);
  EXPECT_EQ(value.counted_by, 3u);
  EXPECT_EQ(value.counter_unused_bits, 0u);
  path.counted_by_int = true;
  EXPECT_EQ(table_entry_of(kFunctions[0], path).counter_unused_bits, 32u);
  path.offsets.resize(KMT_MOST_STEPS + 1);
  EXPECT_THROW(table_entry_of(kFunctions[0], path), Error);
  path.offsets.resize(1);
  path.argument = KMT_CALL_ARGUMENTS;
  EXPECT_THROW(table_entry_of(kFunctions[0], path), Error);
}

// Merges two rings by time: the ring of calls and the ring of events, which has another size.
TEST(BpfCalls, AreMergedWithEventsByTime) {
  constexpr std::uint64_t kEventBytes = 128;
  constexpr std::uint64_t kCallBytes = 1024;
  const auto ring_of = [](std::uint64_t bytes) {
    return std::vector<std::uint64_t>((sizeof(kmt_ring) + bytes + 256) / 8);
  };
  std::vector<std::uint64_t> events = ring_of(kEventBytes);
  std::vector<std::uint64_t> calls = ring_of(kCallBytes);
  const auto put = [](std::vector<std::uint64_t>& memory, std::uint64_t bytes, const kmt_entry& entry) {
    auto* const ring = reinterpret_cast<kmt_ring*>(memory.data());
    std::memcpy(ring->data + (ring->head & (bytes - 8)), &entry, sizeof entry);
    ring->begun = ring->head += sizeof entry + entry.words * 8ull;
  };
  CpuRings rings({reinterpret_cast<kmt_ring*>(events.data())}, kEventBytes);
  rings.add({reinterpret_cast<kmt_ring*>(calls.data())}, kCallBytes);
  std::vector<std::uint64_t> times;
  const CpuRings::Give give = [&times](const kmt_entry& entry, const std::uint64_t*) {
    times.push_back(entry.time_ns);
  };
  for (std::uint64_t round = 0; round < 20; ++round) {
    put(calls, kCallBytes, entry_of(KMT_ENTRY_CALL, KMT_CALL_WORDS, 10 * round + 1));
    put(events, kEventBytes, entry_of(1, 1, 10 * round + 2));
    put(calls, kCallBytes, entry_of(KMT_ENTRY_RETURN, KMT_RETURN_WORDS, 10 * round + 3));
    rings.take(1'000'000'000, give);
    rings.take(1'000'000'000, give);
    ASSERT_EQ(times, (std::vector<std::uint64_t>{10 * round + 1, 10 * round + 2, 10 * round + 3}));
    times.clear();
  }
}

TEST(Preemption, IsReadOrInferred) {
  using enum Preemption;
  EXPECT_EQ(preemption_of("none voluntary (full)\n", "", ""), in_kernel);
  EXPECT_EQ(preemption_of("none (voluntary) full\n", "quiet preempt=full", ""), other);
  EXPECT_EQ(preemption_of("full (lazy)\n", "", ""), in_kernel);
  EXPECT_EQ(preemption_of("", "quiet preempt=full\n", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.1-1"), in_kernel);
  EXPECT_EQ(preemption_of("", "quiet preempt=lazy\n", "#1 SMP PREEMPT_DYNAMIC Debian 7.3.4-1"), in_kernel);
  EXPECT_EQ(preemption_of("", "preempt=none quiet\n", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.1-1"), other);
  EXPECT_EQ(preemption_of("", "quiet\n", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.1-1"), unknown)
      << "the initial state is unknown";
  EXPECT_EQ(preemption_of("", "preempt=full", "#1 SMP Debian 5.10.1-1"), other);
  EXPECT_EQ(preemption_of("", "", "#1 SMP PREEMPT Fri"), in_kernel);
  EXPECT_EQ(preemption_of("", "", "#1 SMP PREEMPT_RT Debian 6.1.1-1"), in_kernel);
}

}  // namespace
}  // namespace kmt
