// SPDX-License-Identifier: GPL-2.0-or-later
// Tests calls recorded by kprobe events: the definitions of probes, the kernel's files about probes, and the records.
// The texts are from Debian's kernel 5.10; tests/vm tests real kernels.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "analysis/calls/stacks.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/temporary_folder.hpp"
#include "base/text.hpp"
#include "capture/missed_log.hpp"
#include "capture/tracefs/arguments_option.hpp"
#include "capture/tracefs/probe_definitions.hpp"
#include "capture/tracefs/probe_events.hpp"
#include "formats/ftrace/record_decoder.hpp"
#include "support/byte_builder.hpp"
#include "trace/calls/event.hpp"
#include "trace/calls/records.hpp"
#include "trace/calls/value_path.hpp"
#include "trace/code/interrupt_functions.hpp"

namespace kmt {
namespace {

namespace fs = std::filesystem;
using namespace test;

const ValuePath kName{"name", 1, {0}, 0, true};
const ValuePath kFlags{"how->flags", 2, {8}, 8};
const ValuePath kDeep{"file->f_path.dentry->d_flags", 0, {24, 16}, 4};
const ValuePath kLow{"count", 2, {}, 2};

ProbeDefinition probes_of(const char* machine, const std::vector<ValuePath>& values) {
  return define_probes("g", {{"f", "", 0xFFFFFFFF81001000, values}}, probe_machine(machine).value(), 4).front();
}
std::string entry_of(const char* machine, const std::vector<ValuePath>& values) {
  return probes_of(machine, values).entry;
}

TEST(ProbeDefinitions, UseTheKernelsSyntax) {
  const std::vector<TracedFunction> functions = {{"plain", "", 0xFFFFFFFF81001000, {}},
                                                 {"opens", "", 0xFFFFFFFF81002000, {kName, kFlags}},
                                                 {"too", "ext4", 0xFFFFFFFFC0003000, {}}};
  const auto made = define_probes("kmemtrace_1_2", functions, probe_machine("x86_64").value(), 512);
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(made[0].exit,
            "r512:kmemtrace_1_2/probe_exit 0xffffffff81001000 func=\\0xffffffff81001000:x64 sp=$stack:x64 "
            "retval=%ax:x64");
  EXPECT_EQ(made[0].entry,
            "p:kmemtrace_1_2/probe_entry_0 0xffffffff81001000 func=\\0xffffffff81001000:x64 sp=$stack:x64 "
            "arg1=%di:x64 arg2=%si:x64 arg3=%dx:x64 arg4=%cx:x64 arg5=%r8:x64 arg6=%r9:x64");
  EXPECT_TRUE(made[0].values.empty());
  EXPECT_TRUE(made[1].entry.starts_with("p:kmemtrace_1_2/probe_entry_0 0xffffffff81002000 "));
  ASSERT_EQ(made[1].values.size(), 2u) << "a string that is too long loses no other value";
  EXPECT_EQ(made[1].values[0],
            "p:kmemtrace_1_2/probe_values_0 0xffffffff81002000 func=\\0xffffffff81002000:x64 sp=$stack:x64 "
            "v1=+8(%dx):x64 r1=+8(%dx):string");
  EXPECT_EQ(made[1].values[1],
            "p:kmemtrace_1_2/probe_values_1 0xffffffff81002000 func=\\0xffffffff81002000:x64 sp=$stack:x64 "
            "v0=+0(%si):string");
  EXPECT_TRUE(made[2].entry.starts_with("p:kmemtrace_1_2/probe_entry_0 0xffffffffc0003000 "))
      << "equal probes share one event";
}

TEST(ProbeDefinitions, ReadArgumentsFromTheStack) {
  const ValuePath number{"pgoff", kStackPointer, {8}, 8};
  const ValuePath name{"name", kStackPointer, {16, 0}, 0, true};
  const auto values = [&](const char* machine) {
    std::string text;
    for (const std::string& line : probes_of(machine, {number, name}).values)
      text += line.substr(line.find(" v")) + ";";
    return text;
  };
  EXPECT_EQ(values("x86_64"), " v0=+8($stack):x64 r0=+8($stack):string; v1=+0(+16($stack)):string;");
  EXPECT_EQ(values("s390x"), " v0=+8($stack):x64 r0=+8($stack):string; v1=+0(+16($stack)):ustring;");
}

// The expected values are from regs_query_register_offset() in arch/*/kernel/ptrace.c and from the ABIs.
TEST(ProbeDefinitions, UseTheRegistersOfEachArchitecture) {
  const auto arguments = [](const char* machine) {
    std::string text = entry_of(machine, {});
    return text.substr(text.find("arg1="));
  };
  EXPECT_EQ(arguments("aarch64"), "arg1=%x0:x64 arg2=%x1:x64 arg3=%x2:x64 arg4=%x3:x64 arg5=%x4:x64 arg6=%x5:x64");
  EXPECT_EQ(arguments("s390x"), "arg1=%r2:x64 arg2=%r3:x64 arg3=%r4:x64 arg4=%r5:x64 arg5=%r6:x64");
  EXPECT_EQ(arguments("i686"), "arg1=%ax:x32 arg2=%dx:x32 arg3=%cx:x32");
  EXPECT_EQ(arguments("armv7l"), "arg1=%r0:x32 arg2=%r1:x32 arg3=%r2:x32 arg4=%r3:x32");
  EXPECT_EQ(arguments("riscv64"), "arg1=%a0:x64 arg2=%a1:x64 arg3=%a2:x64 arg4=%a3:x64 arg5=%a4:x64 arg6=%a5:x64");
  EXPECT_EQ(arguments("ppc64le"),
            "arg1=%gpr3:x64 arg2=%gpr4:x64 arg3=%gpr5:x64 arg4=%gpr6:x64 arg5=%gpr7:x64 arg6=%gpr8:x64");
  EXPECT_EQ(probe_machine("s390x")->result, "r2");
  EXPECT_EQ(probe_machine("aarch64")->result, "x0");
  EXPECT_FALSE(probe_machine("vax"));
}

TEST(ProbeDefinitions, ReadValuesThroughPointers) {
  const auto values = [](const char* machine, const ValuePath& value) {
    const std::string text = probes_of(machine, {value}).values.at(0);
    return text.substr(text.find(" v0") + 1);
  };
  EXPECT_EQ(values("x86_64", kDeep), "v0=+16(+24(%di)):x32 r0=+16(+24(%di)):string");
  EXPECT_EQ(values("x86_64", kLow), "v0=%dx:x16");
  EXPECT_EQ(values("x86_64", {"comm", 0, {1000}, 16, true}), "v0_16=+1000(%di):string");
  EXPECT_EQ(values("x86_64", {"buf", 1, {0}, 0, true, false, 2}), "v0_arg3=+0(%si):string");
  EXPECT_EQ(values("x86_64", {"buf", 1, {0}, 0, true, false, 2, true}), "v0_int3=+0(%si):string");
  EXPECT_EQ(values("s390x", kName), "v0=+0(%r3):ustring")
      << "an address does not show whether memory is user or kernel memory";
  EXPECT_EQ(values("s390x", {"name", 0, {24, 16}, 0, true}), "v0=+16(+24(%r2)):string");
  EXPECT_THROW(entry_of("i686", {{"late", 3, {}, 4}}), Error) << "on the stack";
  EXPECT_THROW(entry_of("x86_64", {{"far", 0, {100000, 100000, 100000, 100000, 100000, 100000}, 4}}), Error);
}

constexpr const char* kEvents =
    "p:other/probe_exit ksys_read\n"
    "r512:kmemtrace_1_2/probe_exit 0x000000006bb27ac6 func=\\0xffffffffb6cc67f0:x64 sp=$stack:x64 retval=%ax:x64\n"
    "p:kmemtrace_1_2/probe_entry_0 0x000000006bb27ac6 func=\\0xffffffffb6cc67f0:x64 sp=$stack:x64 arg1=%di:x64\n"
    "p:kprobes/myprobe do_sys_open dfd=%ax\n";

TEST(ProbeEvents, AreFoundByGroup) {
  EXPECT_EQ(probe_group_of("/sys/kernel/tracing/instances/kmemtrace-12-34"), "kmemtrace_12_34");
  const std::vector<ProbeEvent> wanted = {{"other", "probe_exit"},
                                          {"kmemtrace_1_2", "probe_exit"},
                                          {"kmemtrace_1_2", "probe_entry_0"},
                                          {"kprobes", "myprobe"}};
  EXPECT_EQ(parse_probe_events(kEvents), wanted);
  EXPECT_TRUE(parse_probe_events("").empty());
  EXPECT_TRUE(parse_probe_events("garbage\np:nothing\n/:\n").empty());
}

TEST(ProbeEvents, CountsIncludeOnlyTheGroup) {
  const std::string profile =
      "  probe_exit                                                99              98\n"
      "  probe_exit                                                 7               3\n"
      "  probe_entry_0                                             10               2\n"
      "  myprobe                                                    5               5\n";
  const std::vector<ProbeCounts> counts = parse_probe_counts(kEvents, profile, "kmemtrace_1_2");
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].hits, 7u);
  EXPECT_EQ(counts[0].missed, 3u);
  EXPECT_EQ(counts[1].missed, 2u);
  EXPECT_TRUE(parse_probe_counts(kEvents, profile.substr(profile.find('\n') + 1), "kmemtrace_1_2").empty())
      << "probes were added or removed between the two readings";
}

TEST(ProbeEvents, MissedCallsHaveAStartAndEnd) {
  // Counts of the probes for exits, entries and values.
  const std::vector<ProbeCounts> probes = {{9, 3}, {9, 4}, {9, 5}};
  EXPECT_EQ(missed_calls(probes), 8u);
  EXPECT_EQ(missed_calls(std::span(probes).first(2)), 7u);
  EXPECT_EQ(missed_calls({}), 0u);
}

// write_file() and read_file() use an ordinary folder instead of tracefs. Writing to it has no effect.
class ArgumentsOption : public ::testing::Test {
 protected:
  ArgumentsOption() {
    for (const std::string& folder : {tracefs_, instance_}) fs::create_directories(folder + "/options");
    put(tracefs_ + "/options/funcgraph-args", "0\n");
    put(instance_ + "/options/markers", "1\n");
    put(instance_ + "/current_tracer", "function_graph\n");
  }
  static void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  std::string option(const std::string& of) const { return read_file(of + "/options/funcgraph-args").substr(0, 1); }

  const TemporaryFolder folder_;
  const std::string tracefs_ = folder_.path();
  const std::string instance_ = tracefs_ + "/instances/one";
};

TEST_F(ArgumentsOption, IsUnsetForAllInstances) {
  fs::create_symlink(tracefs_ + "/options/funcgraph-args", instance_ + "/options/funcgraph-args");
  EXPECT_FALSE(has_set_arguments_option(instance_));
  set_arguments_option(tracefs_, instance_);
  EXPECT_EQ(option(tracefs_), "1");
  EXPECT_TRUE(has_set_arguments_option(instance_));
  fs::remove_all(instance_);
  unset_arguments_option(tracefs_);
  EXPECT_EQ(option(tracefs_), "0");
}

TEST_F(ArgumentsOption, IsKeptIfAnotherUserSetItOrItIsPerInstance) {
  put(instance_ + "/options/funcgraph-args", "0\n");
  set_arguments_option(tracefs_, instance_);
  EXPECT_EQ(option(instance_), "1");
  EXPECT_FALSE(has_set_arguments_option(instance_)) << "the option belongs to the instance and is removed with it";
  put(tracefs_ + "/options/funcgraph-args", "1\n");
  set_arguments_option(tracefs_, instance_);
  EXPECT_FALSE(has_set_arguments_option(instance_)) << "the option was already set";
}

TEST_F(ArgumentsOption, IsUnsetByTheLastRecording) {
  const std::string other = tracefs_ + "/instances/kmemtrace-7-8";
  fs::create_directories(other + "/options");
  put(other + "/options/markers", "1\n");
  put(other + "/current_tracer", "function_graph\n");
  put(instance_ + "/current_tracer", "nop\n");
  put(tracefs_ + "/options/funcgraph-args", "1\n");
  EXPECT_FALSE(has_set_arguments_option(other));
  unset_arguments_option(tracefs_);
  EXPECT_EQ(option(tracefs_), "1");
  EXPECT_TRUE(has_set_arguments_option(other));
  fs::remove_all(other);
  put(tracefs_ + "/current_tracer", "function_graph\n");
  unset_arguments_option(tracefs_);
  EXPECT_EQ(option(tracefs_), "1") << "another user traces with this option";
  put(tracefs_ + "/current_tracer", "nop\n");
  unset_arguments_option(tracefs_);
  EXPECT_EQ(option(tracefs_), "0");
}

TEST(MissedLog, GivesTheTimesOfMisses) {
  MissedLog log;
  log.begin(100, {{"vfs_read", 5}});
  log.note(190, 200, {{"vfs_read", 5}, {"", 0}});
  EXPECT_EQ(log.total(), 0u) << "before the recording started";
  log.note(290, 300, {{"vfs_read", 7}, {"", 0}});
  log.note(390, 400, {{"vfs_read", 7}, {"", 3}});  // calls may be missed while the counts are read
  EXPECT_EQ(log.total(), 5u);
  EXPECT_EQ(log.by_function(), (MissedCounts{{"", 3}, {"vfs_read", 2}}));
  EXPECT_EQ(log.text(), "190 300 2 vfs_read\n290 400 3\n");
  const std::vector<MissedEvents> read = parse_missed_events("x\n" + log.text());
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].function, "vfs_read");
  EXPECT_EQ(read[1].to_ns, 400u);
  EXPECT_EQ(missed_events_text(read), log.text());
}

TEST(MissedLog, LimitsTheNumberAndLengthOfIntervals) {
  MissedLog log;
  log.begin(0, {});
  constexpr std::uint64_t kLookNs = 10'000'000;
  constexpr std::uint64_t kLooks = 100'000;
  MissedCounts counts;
  for (std::uint64_t look = 1; look <= kLooks; ++look) {
    ++counts["vfs_read"];
    counts[""] = look / 1000;
    log.note(look * kLookNs, look * kLookNs, counts);
  }
  EXPECT_EQ(log.total(), kLooks + 100);
  const std::vector<MissedEvents> stretches = parse_missed_events(log.text());
  EXPECT_LE(stretches.size(), 4096u);
  MissedCounts counted;
  std::map<std::string, std::uint64_t> until_ns;
  for (const MissedEvents& one : stretches) {
    counted[one.function] += one.count;
    EXPECT_GE(one.from_ns, until_ns[one.function]);
    until_ns[one.function] = one.to_ns;
    EXPECT_LE(one.to_ns - one.from_ns, one.function.empty() ? kLookNs : kLooks * kLookNs / 1000);
  }
  EXPECT_EQ(counted, counts);
}

TEST(NameList, IsShortened) {
  EXPECT_EQ(first_of({"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(first_of({"a", "b", "c"}, 1), "a and 2 more");
}

// Records of three probes: probe_entry_0 with values, as earlier versions of kmemtrace recorded it, probe_values_0 and
// probe_entry_1. The parameter is the machine whose kernel writes the records.
class ProbeRecords : public ::testing::TestWithParam<Machine> {
 protected:
  ProbeRecords() {
    info_.machine.word_bits = 8 * GetParam().long_bytes;
    info_.machine.byte_order = GetParam().order;
    info_.calls.records = std::make_shared<CallRecords>();
    const std::size_t word = GetParam().long_bytes;
    unsigned at = 8;
    const auto field = [&](const char* name, std::size_t size, bool is_string = false) {
      FormatField made;
      made.name = name;
      made.offset = at;
      made.size = static_cast<unsigned>(size);
      made.is_dynamic = is_string;
      at += made.size;
      return made;
    };
    EventFormat entry{7, "kmemtrace", "probe_entry_0", {}, ""};
    FormatField task;
    task.name = "common_pid";
    task.offset = task.size = 4;
    entry.fields.push_back(task);
    for (const char* const name : {"__probe_ip", "func", "sp", "arg1", "arg2"})
      entry.fields.push_back(field(name, word));
    entry.fields.push_back(field("v0", 4, true));
    entry.fields.push_back(field("v1", 4));
    entry.fields.push_back(field("r1", 4, true));
    entry.fields.push_back(field("v2_3", 4, true));
    begin_ = at;
    at = 8;
    EventFormat values{8, "kmemtrace", "probe_values_0", {task}, ""};
    for (const char* const name : {"__probe_ip", "func", "sp"}) values.fields.push_back(field(name, word));
    values.fields.push_back(field("v0_arg2", 4, true));
    values_begin_ = at;
    at = 8;
    EventFormat plain{9, "kmemtrace", "probe_entry_1", {task}, ""};
    for (const char* const name : {"__probe_ip", "func", "sp", "arg1", "arg2"})
      plain.fields.push_back(field(name, word));
    at = 8;
    EventFormat number{10, "kmemtrace", "probe_values_1", {task}, ""};
    for (const char* const name : {"__probe_ip", "func", "sp"}) number.fields.push_back(field(name, word));
    number.fields.push_back(field("v1", 4));
    number.fields.push_back(field("v3", 4));
    EventFormat counted{11, "kmemtrace", "probe_values_2", values.fields, ""};
    counted.fields.back().name = "v0_int2";
    decoder_.emplace(std::vector<EventFormat>{entry, values, plain, number, counted}, GetParam().order, info_);
  }

  struct Text {
    std::string bytes;
    bool was_read = true;
  };
  Event decode(const Text& first, const Text& readable, const Text& last, std::size_t cut = 0) {
    ByteBuilder record = ByteBuilder(GetParam()).u16(7).u8(0).u8(0).u32(42);
    record.word(0x1004).word(0x1000).word(0xABCD1234).word(11).word(12);
    std::size_t at = begin_;
    const auto place = [&](const Text& text) {
      const std::size_t length = text.was_read ? text.bytes.size() + 1 : 0;
      record.u32(static_cast<std::uint32_t>(length << 16 | at));
      at += length;
    };
    place(first);
    record.u32(0xCAFE);
    place(readable);
    place(last);
    for (const Text& text : {first, readable, last})
      if (text.was_read) record.c_string(text.bytes);
    std::vector<std::uint8_t> bytes = record.get();
    bytes.resize(bytes.size() - cut);
    EventBatch batch;
    decoder_->decode(bytes, 5, 1, 0, batch);
    EXPECT_EQ(batch.size(), 1u);
    return batch.empty() ? Event{} : batch.front();
  }
  // Adds a record that contains a string. `length` includes the NUL; `room` is the space reserved for the string.
  void tell_values(std::uint64_t sp, const std::string& text, std::size_t length, std::size_t room, unsigned cpu = 1,
                   std::uint16_t id = 8) {
    ByteBuilder record = ByteBuilder(GetParam()).u16(id).u8(0).u8(0).u32(42);
    record.word(0x1004).word(0x1000).word(sp).u32(static_cast<std::uint32_t>(length << 16 | values_begin_)).text(text);
    std::vector<std::uint8_t> bytes = record.get();
    bytes.resize((values_begin_ + room + 3) / 4 * 4);
    EventBatch batch;
    decoder_->decode(bytes, 5, cpu, 0, batch);
    EXPECT_EQ(batch.front().kind, EventKind::other);
  }
  void tell_numbers(std::uint64_t sp, std::uint32_t first, std::uint32_t second) {
    ByteBuilder record = ByteBuilder(GetParam()).u16(10).u8(0).u8(0).u32(42);
    record.word(0x1004).word(0x1000).word(sp).u32(first).u32(second);
    EventBatch batch;
    decoder_->decode(record.get(), 5, 1, 0, batch);
  }
  std::vector<std::uint8_t> none() const { return bytes().u16(kValueLeftOut).get(); }
  std::vector<std::uint8_t> values_at_entry(std::uint64_t sp, std::uint64_t count, unsigned cpu = 1) {
    ByteBuilder record = ByteBuilder(GetParam()).u16(9).u8(0).u8(0).u32(42);
    record.word(0x1004).word(0x1000).word(sp).word(11).word(count);
    EventBatch batch;
    decoder_->decode(record.get(), 6, cpu, 0, batch);
    EXPECT_EQ(batch.front().kind, EventKind::call_entry);
    return values_of(batch.front());
  }
  std::vector<std::uint8_t> values_of(const Event& event) const {
    return info_.calls.records->at(as_call(event).record).values;
  }
  ByteBuilder bytes() const { return ByteBuilder(GetParam()); }

  TraceInfo info_;
  std::size_t begin_ = 0;
  std::size_t values_begin_ = 0;
  std::optional<RecordDecoder> decoder_;
};

TEST_P(ProbeRecords, AreCallsWithValues) {
  const Event event = decode({"/etc"}, {"x"}, {"abcdef"});
  EXPECT_EQ(event.kind, EventKind::call_entry);
  EXPECT_EQ(event.address, 0x1000u) << "not the address of the probe";
  EXPECT_EQ(event.tid, 42);
  ASSERT_TRUE(as_call(event).has(CallFlags::kFrame));
  EXPECT_EQ(as_call(event).frame, 0xABCD1234u);
  EXPECT_EQ(info_.calls.records->at(as_call(event).record).registers, (std::vector<std::uint64_t>{11, 12}));
  EXPECT_EQ(values_of(event), bytes().u16(4).text("/etc").u16(4).u32(0xCAFE).u16(3).text("abc").get());
}

TEST_P(ProbeRecords, UnreadableValuesAreMissing) {
  EXPECT_EQ(values_of(decode({"", false}, {"", false}, {""})), bytes().u16(0xFFFF).u16(0xFFFF).u16(0).get());
  EXPECT_EQ(values_of(decode({"(fault)"}, {""}, {"(fault)"})),
            bytes().u16(0xFFFF).u16(4).u32(0xCAFE).u16(0xFFFF).get());
  EXPECT_EQ(values_of(decode({"/etc"}, {"x"}, {"abcdef"}, 4)),
            bytes().u16(4).text("/etc").u16(4).u32(0xCAFE).u16(0xFFFF).get())
      << "after the end of the record";
}

TEST_P(ProbeRecords, PrecedingValuesBelongOnlyToTheirCall) {
  const std::vector<std::uint8_t> abc = bytes().u16(3).text("abc").get();
  tell_values(0x2000, "abcdef", 7, 7);
  EXPECT_EQ(values_at_entry(0x2000, 3), abc) << "as many bytes as arg2 states";
  EXPECT_EQ(values_at_entry(0x2000, 3), none()) << "the next call has no values: the string was too long";
  tell_values(0x2000, "abc", 4, 4);
  EXPECT_EQ(values_at_entry(0x2000, 9, 2), none()) << "another CPU";
  EXPECT_EQ(values_at_entry(0x2000, 9), abc);
  tell_values(0x2000, "abc", 4, 4);
  EXPECT_EQ(values_at_entry(0x3000, 9), none()) << "another stack position";
  EXPECT_EQ(values_at_entry(0x2000, 9), none());
  tell_values(0x2000, "abc", 4, 4);
  info_.losses.intervals.push_back({2, 1, 5, 6});
  EXPECT_EQ(values_at_entry(0x2000, 9), abc);
  tell_values(0x2000, "abc", 4, 4);
  info_.losses.intervals.push_back({1, 1, 5, 6});
  EXPECT_EQ(values_at_entry(0x2000, 9), none()) << "the call of the values may be lost";
  tell_values(0x2000, "abc", 4, 4);
  decoder_->forget_values(2);
  EXPECT_EQ(values_at_entry(0x2000, 9), abc);
  tell_values(0x2000, "abc", 4, 4);
  decoder_->forget_values(1);
  EXPECT_EQ(values_at_entry(0x2000, 9), none()) << "or damaged";
}

TEST_P(ProbeRecords, OnlyTheBitsOfAnIntCount) {
  if (GetParam().long_bytes == 4) GTEST_SKIP() << "a register has only 32 bits";
  const std::uint64_t three = 0xDEAD'0000'0003;
  tell_values(0x2000, "abcdef", 7, 7, 1, 11);
  EXPECT_EQ(values_at_entry(0x2000, three), bytes().u16(3).text("abc").get());
  tell_values(0x2000, "abcdef", 7, 7);
  EXPECT_EQ(values_at_entry(0x2000, three), bytes().u16(6).text("abcdef").get());
}

TEST_P(ProbeRecords, ValuesOfSeveralRecordsKeepTheirOrder) {
  tell_numbers(0x2000, 7, 8);
  tell_values(0x2000, "abc", 4, 4);
  EXPECT_EQ(values_at_entry(0x2000, 9),
            bytes().u16(3).text("abc").u16(4).u32(7).u16(kValueLeftOut).u16(4).u32(8).get());
  tell_numbers(0x2000, 7, 8);
  EXPECT_EQ(values_at_entry(0x2000, 9), bytes().u16(kValueLeftOut).u16(4).u32(7).u16(kValueLeftOut).u16(4).u32(8).get())
      << "the string was too long";
  tell_values(0x2000, "abc", 4, 4);
  tell_numbers(0x3000, 7, 8);
  EXPECT_EQ(values_at_entry(0x3000, 9), bytes().u16(kValueLeftOut).u16(4).u32(7).u16(kValueLeftOut).u16(4).u32(8).get())
      << "the string belongs to another call";
}

TEST_P(ProbeRecords, StringsAreCut) {
  tell_values(0x2000, std::string(300, 'x'), 301, 301);
  EXPECT_EQ(values_at_entry(0x2000, 1000), bytes().u16(255).text(std::string(255, 'x')).get());
  tell_values(0x2000, "abc", 4, 4);
  EXPECT_EQ(values_at_entry(0x2000, 0), bytes().u16(0).get());
}

// strnlen_user_nofault() reserves space for the NUL, but strncpy_from_user_nofault() does not count it.
TEST_P(ProbeRecords, EmptyAndUnreadableStringsDiffer) {
  tell_values(0x2000, "", 0, 1);
  EXPECT_EQ(values_at_entry(0x2000, 9), bytes().u16(0).get());
  tell_values(0x2000, "", 0, 0);
  EXPECT_EQ(values_at_entry(0x2000, 9), bytes().u16(0xFFFF).get());
}

INSTANTIATE_TEST_SUITE_P(Machines, ProbeRecords,
                         ::testing::Values(Machine{ByteOrder::little, 8}, Machine{ByteOrder::little, 4},
                                           Machine{ByteOrder::big, 8}, Machine{ByteOrder::big, 4}));

// Calls of a task, which are matched by their stack pointers. Functions are numbers.
class Frames : public ::testing::Test {
 protected:
  Event event(EventKind kind, std::uint32_t frame, std::uint8_t context = 0) {
    CallEvent made{};
    made.kind = kind;
    made.tid = 7;
    made.context = context;
    made.time_ns = ++now_;
    made.frame = frame;
    made.flags = CallFlags::kFrame;
    return as_event(made);
  }
  unsigned enter(std::uint32_t function, std::uint32_t frame, std::uint8_t context = 0, std::uint8_t level = 0) {
    return stacks_.enter(event(EventKind::call_entry, frame, context), function, level).calls.back().depth;
  }
  // Ends a call. On x86, the return address is no longer on the stack at the exit.
  bool leave(std::uint32_t function, std::uint32_t frame, std::uint8_t context = 0) {
    return stacks_.leave(event(EventKind::call_exit, frame + 8, context), function);
  }

  std::uint64_t now_ = 0;
  TraceInfo info_;
  std::vector<std::uint32_t> unseen_;  // function of each call without an end event
  CallStacks stacks_{info_, [this](TaskCalls&, const OpenCall& call, const CallEvent* end) {
                       if (end == nullptr) unseen_.push_back(call.function);
                     }};
};

TEST_F(Frames, NestByStackPosition) {
  EXPECT_EQ(enter(1, 0x7F00), 0u);
  EXPECT_EQ(enter(2, 0x7E00), 1u);
  EXPECT_EQ(enter(3, 0x7D00), 2u);
  EXPECT_TRUE(leave(3, 0x7D00));
  EXPECT_EQ(enter(3, 0x7D00), 2u);
  EXPECT_TRUE(leave(3, 0x7D00));
  EXPECT_TRUE(leave(2, 0x7E00));
  EXPECT_EQ(enter(2, 0x7E80), 1u) << "next to the first call, not inside";
  EXPECT_TRUE(leave(2, 0x7E80));
  EXPECT_TRUE(leave(1, 0x7F00));
  EXPECT_TRUE(unseen_.empty());
}

TEST_F(Frames, AMissedExitDoesNotAffectOtherCalls) {
  enter(1, 0x7F00);
  enter(2, 0x7E00);
  EXPECT_EQ(enter(2, 0x7E00), 1u) << "the same function and stack position: the earlier call has ended";
  EXPECT_EQ(unseen_, std::vector<std::uint32_t>{2});
  EXPECT_EQ(enter(3, 0x7E00), 2u) << "2 jumped to 3";
  EXPECT_TRUE(leave(3, 0x7E00));
  EXPECT_TRUE(leave(2, 0x7E00));
  enter(3, 0x7D00);
  EXPECT_EQ(enter(2, 0x7E00), 1u) << "at a higher stack position";
  EXPECT_EQ(unseen_, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_FALSE(leave(3, 0x7D00)) << "an exit without a call";
  EXPECT_FALSE(leave(2, 0x7D00)) << "an exit of another call of the function";
  EXPECT_TRUE(leave(1, 0x7F00));
  EXPECT_EQ(unseen_, (std::vector<std::uint32_t>{2, 3, 2}));
}

TEST_F(Frames, OpenCallsAreNotInheritedByAReusedId) {
  enter(1, 0x7F00);
  enter(2, 0x7E00);
  now_ = 1'000'000;
  info_.tasks.lives.born({.tid = 7, .born_ns = now_});
  EXPECT_EQ(enter(3, 0x1FF00), 0u) << "on another stack, outside of all calls";
  EXPECT_EQ(unseen_, (std::vector<std::uint32_t>{2, 1}));
  now_ = 2'000'000;
  EXPECT_EQ(enter(2, 0x1FE00), 1u) << "still the same task";
  info_.tasks.lives.born({.tid = 7, .born_ns = 3'000'000});
  now_ = 4'000'000;
  EXPECT_FALSE(leave(2, 0x1FE00));
  EXPECT_EQ(unseen_, (std::vector<std::uint32_t>{2, 1, 2, 3}));
  EXPECT_EQ(enter(1, 0x7F00), 0u);
  EXPECT_TRUE(leave(1, 0x7F00));
}

TEST_F(Frames, InterruptsHaveSeparateStacks) {
  enter(1, 0x7F00);
  EXPECT_EQ(enter(2, 0x1FF00, Context::kHardIrq), 1u) << "higher, but on another stack";
  EXPECT_EQ(enter(1, 0x7F00 - 0x400), 1u) << "the interrupt's end was missed";
  EXPECT_EQ(unseen_, std::vector<std::uint32_t>{2});
  EXPECT_EQ(enter(1, 0x7A00, Context::kSoftIrq), 2u) << "on the task's stack";
  EXPECT_FALSE(leave(1, 0x7A00)) << "an exit of the interrupted task";
  EXPECT_TRUE(leave(1, 0x7A00, Context::kSoftIrq));
  EXPECT_TRUE(leave(1, 0x7F00 - 0x400));
  EXPECT_TRUE(leave(1, 0x7F00));
}

// irq_enter_rcu() starts before the kernel counts the interrupt, and irq_exit_rcu() ends when the kernel no longer
// counts it.
TEST_F(Frames, FunctionsThatCountInterruptsKeepTheirContext) {
  constexpr std::uint32_t kTask = 1, kOutermost = 2, kEnter = 3, kHandler = 4, kExit = 5, kSoft = 6;
  enter(kTask, 0x7F00);
  EXPECT_EQ(enter(kOutermost, 0x1FF00), 1u);
  EXPECT_EQ(enter(kEnter, 0x1FE00, 0, interrupt_level_of("irq_enter_rcu")), 2u);
  EXPECT_TRUE(leave(kEnter, 0x1FE00, Context::kHardIrq));
  EXPECT_EQ(enter(kHandler, 0x1FE00, Context::kHardIrq), 2u);
  EXPECT_TRUE(leave(kHandler, 0x1FE00, Context::kHardIrq));
  EXPECT_EQ(enter(kExit, 0x1FE00, Context::kHardIrq, interrupt_level_of("irq_exit_rcu")), 2u);
  EXPECT_EQ(enter(kSoft, 0x1FD00, 0, interrupt_level_of("handle_softirqs")), 3u);
  EXPECT_EQ(enter(kHandler, 0x1FC00, Context::kSoftIrq), 4u);
  EXPECT_TRUE(leave(kHandler, 0x1FC00, Context::kSoftIrq));
  EXPECT_TRUE(leave(kSoft, 0x1FD00));
  EXPECT_TRUE(leave(kExit, 0x1FE00));
  EXPECT_TRUE(leave(kOutermost, 0x1FF00));
  EXPECT_TRUE(leave(kTask, 0x7F00));
  EXPECT_TRUE(unseen_.empty());
}

TEST_F(Frames, NothingIsCertainAfterALoss) {
  enter(1, 0x7F00);
  info_.losses.intervals.push_back({0, 5, now_, now_ + 1});
  now_ += 2;
  EXPECT_FALSE(leave(1, 0x7F00)) << "another call of the function may have replaced it";
  EXPECT_EQ(unseen_, std::vector<std::uint32_t>{1});
}

}  // namespace
}  // namespace kmt
