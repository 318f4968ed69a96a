// SPDX-License-Identifier: GPL-2.0-or-later
// Runs the BPF programs that record calls in the kernel, with artificial calls. Skipped if the user may not load BPF
// programs.
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <bpf/btf.h>
#include <gtest/gtest.h>
#include <linux/types.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "capture/bpf/cpu_rings.hpp"
#include "capture/bpf/mapped_array.hpp"
#include "capture/bpf/object.hpp"
#include "capture/bpf/programs/calls.h"
#include "capture/bpf/programs/calls_run.skel.h"
#include "capture/features/bpf_support.hpp"

namespace kmt {
namespace {

constexpr std::uint64_t kRingBytes = 16384;
constexpr std::uint64_t kStride = sizeof(kmt_ring) + kRingBytes + 4096;
constexpr unsigned kFunctions = 4;
constexpr std::uint32_t kStack = 0xbf00;  // an arbitrary stack address

struct Seen {
  bool is_entry;
  unsigned function;
  unsigned depth;
  std::vector<std::uint64_t> words;
  std::string values;
  bool operator==(const Seen&) const = default;
};

class BpfCallPrograms : public testing::Test {
 protected:
  using Object =
      BpfSkeleton<calls_run_bpf, calls_run_bpf__create_skeleton, calls_run_bpf__load, calls_run_bpf__destroy>;

  void SetUp() override {
    if (const BpfSupport support = bpf_support(); !support.missing.empty()) GTEST_SKIP() << support.missing;
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(0, &here);
    ASSERT_EQ(::sched_setaffinity(0, sizeof here, &here), 0);
    object_.emplace();
    Object& object = *object_;
    bpf_program* program = nullptr;
    while ((program = bpf_object__next_program(object->obj, program)))
      bpf_program__set_autoload(program, std::string(bpf_program__name(program)).starts_with("run_"));
    bpf_map__set_value_size(object->maps.rings, kStride);
    bpf_map__set_max_entries(object->maps.rings, KMT_CALL_RINGS);
    bpf_map__set_max_entries(object->maps.functions, kFunctions);
    bpf_map__set_max_entries(object->maps.values, kFunctions * KMT_MOST_VALUES);
    object->rodata->rings_of_cpu = KMT_CALL_RINGS;
    object->rodata->ring_bytes = kRingBytes;
    object->rodata->ring_mask = kRingBytes - 8;
    object.load();
    object->bss->recording = 1;
    rings_ = MappedArray(bpf_map__fd(object->maps.rings), KMT_CALL_RINGS * kStride);
    std::vector<kmt_ring*> all;
    for (unsigned i = 0; i < KMT_CALL_RINGS; ++i) all.push_back(ring(i));
    reader_.emplace(all, kRingBytes);
  }

  kmt_ring* ring(unsigned number) { return reinterpret_cast<kmt_ring*>(rings_.as<std::uint8_t>() + number * kStride); }
  void record_values(unsigned function, const std::vector<kmt_value>& values) {
    for (unsigned i = 0; i < values.size(); ++i)
      put((*object_)->maps.values, function * KMT_MOST_VALUES + i, values[i]);
    put((*object_)->maps.functions, function,
        kmt_function{function * KMT_MOST_VALUES, static_cast<unsigned>(values.size())});
  }

  // Runs the program at the entry of a function. In `arguments`, the stack pointer follows the last argument. Its
  // default is 0, as with trampolines.
  void enter(std::uint64_t function, std::uint32_t frame, std::vector<std::uint64_t> arguments = {}) {
    arguments.resize(KMT_CALL_ARGUMENTS + 1);
    arguments.insert(arguments.begin(), {function, frame});
    run((*object_)->progs.run_entry, arguments);
  }
  void leave(std::uint64_t function, std::uint32_t frame, std::uint64_t result = 0, unsigned slack = 0,
             std::vector<std::uint64_t> arguments = {}) {
    arguments.resize(KMT_CALL_ARGUMENTS);
    arguments.insert(arguments.begin(), {function, frame, slack, result});
    run((*object_)->progs.run_exit, arguments);
  }
  static void run(const bpf_program* program, std::vector<std::uint64_t> context) {
    LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = context.data(),
                .ctx_size_in = static_cast<__u32>(context.size() * sizeof context[0]));
    ASSERT_EQ(bpf_prog_test_run_opts(bpf_program__fd(program), &options), 0) << std::strerror(errno);
  }

  std::vector<Seen> take() {
    std::vector<Seen> seen;
    reader_->take_rest([&seen](const kmt_entry& entry, const std::uint64_t* words) {
      EXPECT_EQ(entry.task, ::gettid());
      const std::uint64_t what = words[0];
      const bool is_entry = entry.event == KMT_ENTRY_CALL;
      const std::size_t fixed = is_entry ? KMT_CALL_WORDS : KMT_RETURN_WORDS;
      seen.push_back({is_entry,
                      static_cast<unsigned>(what),
                      static_cast<unsigned>(what >> 32 & 0xFFFF),
                      {words + (is_entry ? 1 : 2), words + fixed},
                      {reinterpret_cast<const char*>(words + fixed), static_cast<std::size_t>(what >> 48)}});
    });
    return seen;
  }
  // Returns the entries and exits as text, such as "(1 2 )2 )1". Also checks the depths.
  std::string shape() {
    std::string text;
    unsigned depth = 0;
    for (const Seen& seen : take()) {
      if (!seen.is_entry) --depth;
      EXPECT_EQ(seen.depth, depth);
      if (seen.is_entry) ++depth;
      text += (text.empty() ? "" : " ") + std::string(seen.is_entry ? "(" : ")") + std::to_string(seen.function);
    }
    return text;
  }

  std::optional<Object> object_;
  MappedArray rings_;
  std::optional<CpuRings> reader_;

 private:
  template <typename Value>
  static void put(bpf_map* map, std::uint32_t key, const Value& value) {
    ASSERT_EQ(bpf_map__update_elem(map, &key, sizeof key, &value, sizeof value, BPF_ANY), 0);
  }
};

std::string sized(const std::string& text) {
  return std::string{static_cast<char>(text.size()), static_cast<char>(text.size() >> 8)} + text;
}
const std::string kNotRead = "\xff\xff";

kmt_value value_of(unsigned argument, std::vector<unsigned> offsets, bool is_string, unsigned bytes) {
  kmt_value value{};
  value.argument = static_cast<unsigned char>(argument);
  value.steps = static_cast<unsigned char>(offsets.size());
  value.is_string = is_string;
  value.bytes = bytes;
  std::copy(offsets.begin(), offsets.end(), value.offsets);
  return value;
}

TEST_F(BpfCallPrograms, RecordArgumentsAndResults) {
  enter(1, kStack, {10, 11, 12, 13, 14, ~0ull});
  leave(1, kStack, ~0ull - 8, 0, {10, 11, 12, 13, 14, ~0ull});
  const std::vector<Seen> seen = take();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0], (Seen{true, 1, 0, {10, 11, 12, 13, 14, ~0ull}, {}}));
  EXPECT_EQ(seen[1], (Seen{false, 1, 0, {~0ull - 8}, {}}));
}

// The programs missed the end of the first call and the start of the second.
TEST_F(BpfCallPrograms, NeverMixUpResultsOfCalls) {
  enter(1, kStack, {3, 0x7f00, 100});
  leave(1, kStack, 79, 0, {3, 0x7f00, 79});
  EXPECT_EQ(take().size(), 1u);
  leave(1, kStack, 100, 0, {3, 0x7f00, 100});
  EXPECT_EQ(take().size(), 1u);
}

TEST_F(BpfCallPrograms, ReadValuesThroughPointers) {
  struct Inner {
    char text[8];
    std::uint32_t number;
  } inner{{'n', 'o', ' ', 'e', 'n', 'd', '.', '.'}, 0xcafe};
  struct Outer {
    std::uint64_t unused;
    const Inner* inner;
    const char* name;
  };
  const std::string longest(400, 'x');
  const Outer outer{1, &inner, longest.c_str()};
  const Outer empty{1, nullptr, ""};
  record_values(2, {value_of(1, {}, false, 4), value_of(0, {offsetof(Outer, inner), offsetof(Inner, number)}, false, 4),
                    value_of(0, {offsetof(Outer, inner), 0}, true, sizeof inner.text),
                    value_of(0, {offsetof(Outer, name), 0}, true, 0)});
  enter(2, kStack, {reinterpret_cast<std::uint64_t>(&outer), 0x1122334455667788});
  enter(2, kStack - 64, {reinterpret_cast<std::uint64_t>(&empty), 7});
  enter(2, kStack - 128, {0, 7});
  const std::vector<Seen> seen = take();
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].values, sized("\x88\x77\x66\x55") + sized(std::string("\xfe\xca\0\0", 4)) + sized("no end..") +
                                sized(longest.substr(0, KMT_STRING_BYTES)));
  EXPECT_EQ(seen[1].values, sized(std::string("\x07\0\0\0", 4)) + kNotRead + kNotRead + sized(""));
  EXPECT_EQ(seen[2].values, sized(std::string("\x07\0\0\0", 4)) + kNotRead + kNotRead + kNotRead);
}

TEST_F(BpfCallPrograms, ReadArgumentsFromTheStack) {
  const char text[] = "etc";  // an array on the stack, because the page with a string literal may not be in memory yet
  const std::uint64_t stack[] = {0, 0x1122334455667788, reinterpret_cast<std::uint64_t>(text)};
  const auto stack_pointer = reinterpret_cast<std::uint64_t>(stack);
  record_values(3, {value_of(KMT_CALL_ARGUMENTS, {8}, false, 4), value_of(1, {}, false, 1),
                    value_of(KMT_CALL_ARGUMENTS, {16, 0}, true, 0)});
  enter(3, kStack, {1, 2, 3, 4, 5, 6, stack_pointer});
  enter(3, kStack - 64, {1, 2, 3, 4, 5, 6});
  const std::vector<Seen> seen = take();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].words, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(seen[0].values, sized("\x88\x77\x66\x55") + sized("\x02") + sized("etc"));
  EXPECT_EQ(seen[1].values, kNotRead + sized("\x02") + kNotRead);
}

TEST_F(BpfCallPrograms, ReadKernelMemoryThroughPointers) {
  const std::unique_ptr<btf, decltype(&btf__free)> types(btf__load_vmlinux_btf(), &btf__free);
  const int id = btf__find_by_name_kind(types.get(), "task_struct", BTF_KIND_STRUCT);
  ASSERT_GT(id, 0);
  const btf_type* const task = btf__type_by_id(types.get(), static_cast<__u32>(id));
  std::optional<unsigned> comm;
  for (unsigned i = 0; i < btf_vlen(task); ++i)
    if (std::string(btf__name_by_offset(types.get(), btf_members(task)[i].name_off)) == "comm")
      comm = btf_member_bit_offset(task, i) / 8;
  ASSERT_TRUE(comm);
  ASSERT_EQ(::prctl(PR_SET_NAME, "of-the-test"), 0);
  record_values(0, {value_of(0, {*comm}, true, 16)});
  run((*object_)->progs.run_entry_with_task, {0, kStack});
  const std::vector<Seen> seen = take();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].values, sized("of-the-test"));
}

TEST_F(BpfCallPrograms, LimitTheNumberOfValues) {
  const std::string text(KMT_STRING_BYTES, 'y');
  record_values(3, std::vector<kmt_value>(KMT_MOST_VALUES, value_of(0, {0}, true, 0)));
  enter(3, kStack, {reinterpret_cast<std::uint64_t>(text.c_str())});
  const std::vector<Seen> seen = take();
  ASSERT_EQ(seen.size(), 1u);
  std::string expected;
  while (expected.size() <= KMT_VALUES_BYTES) expected += sized(text);
  EXPECT_EQ(seen[0].values, expected);
}

TEST_F(BpfCallPrograms, MatchExitsByStackPosition) {
  enter(1, kStack);
  leave(1, kStack - 96);  // exit of an inner call of the same function; the entry of this inner call was missed
  enter(2, kStack - 64);
  leave(3, kStack - 128);  // exit of a call whose entry was missed
  leave(2, kStack - 64);
  leave(1, kStack);
  leave(1, kStack);
  EXPECT_EQ(shape(), "(1 (2 )2 )1");
}

TEST_F(BpfCallPrograms, AcceptExitsOfProbesAboveTheEntry) {
  enter(1, kStack - 8);
  enter(2, kStack - 8);  // a tail call: function 1 jumps to function 2
  leave(2, kStack, 0, 16);
  leave(1, kStack, 0, 16);
  EXPECT_EQ(shape(), "(1 (2 )2 )1");
}

// Return probes do not provide the stack pointer on arm64, and on x86 since Linux 6.14.
TEST_F(BpfCallPrograms, MatchExitsByFunctionWithoutAStackPointer) {
  for (unsigned i = 0; i < 200; ++i) {
    enter(1, kStack - 8);
    enter(2, kStack - 64);
    leave(3, 0xdead0000, 0, 16);
    leave(2, 0xdead0000, 22, 16);
    leave(1, kStack - 500, 11, 16);  // below the frame of the call
    ASSERT_EQ(shape(), "(1 (2 )2 )1");
  }
  EXPECT_EQ((*object_)->bss->exits_without_call, 0u);
}

TEST_F(BpfCallPrograms, CountExitsWithoutACall) {
  enter(1, kStack - 8);
  leave(1, kStack, 0, 16);
  enter(1, kStack - 8);
  leave(1, kStack, 0, 16);
  enter(1, kStack - 8);
  leave(1, kStack - 104, 0, 16);  // exit of an inner call whose entry was missed
  leave(1, kStack, 0, 16);
  EXPECT_EQ(shape(), "(1 )1 (1 )1 (1 )1");
  EXPECT_EQ((*object_)->bss->exits_without_call, 1u);
}

TEST_F(BpfCallPrograms, DropCallsWhoseExitWasMissed) {
  enter(1, kStack);
  enter(2, kStack - 64);
  leave(1, kStack);
  enter(1, kStack);
  enter(2, kStack - 64);
  enter(2, kStack - 32);  // its frame is above that of the open call, so the open call has ended
  enter(2, kStack - 32);  // the same stack pointer as that of the open call, which has ended too
  std::vector<unsigned> depths;
  for (const Seen& seen : take()) depths.push_back(seen.depth);
  EXPECT_EQ(depths, (std::vector<unsigned>{0, 1, 0, 0, 1, 1, 1}));
}

// irq_exit_rcu() starts while the kernel counts an interrupt. Later, when the interrupt is no longer counted,
// irq_exit_rcu() calls functions.
TEST_F(BpfCallPrograms, NestFunctionsThatCountInterrupts) {
  const std::uint64_t irq_exit = KMT_CALL_COOKIE(2, KMT_LEVEL_HARDIRQ);
  enter(1, kStack);
  (*object_)->bss->made_up_flags = 0x08;
  enter(irq_exit, kStack - 64);
  (*object_)->bss->made_up_flags = 0;
  enter(3, kStack - 128);
  leave(3, kStack - 128);
  leave(irq_exit, kStack - 64);
  leave(1, kStack);
  EXPECT_EQ(shape(), "(1 (2 (3 )3 )2 )1");
}

// irq_exit_rcu() interrupts a BPF program that runs in a softirq. At its exit, the kernel no longer counts the hardirq.
// The exit must still be recorded, unlike calls that the BPF program itself makes.
TEST_F(BpfCallPrograms, RecordExitsOfInterruptFunctionsDuringPrograms) {
  const std::uint64_t irq_exit = KMT_CALL_COOKIE(2, KMT_LEVEL_HARDIRQ);
  (*object_)->bss->level_below = 1;
  (*object_)->bss->made_up_flags = 0x18;
  enter(irq_exit, kStack);
  (*object_)->bss->made_up_flags = 0x10;
  leave(irq_exit, kStack);
  EXPECT_EQ(shape(), "(2 )2");
}

TEST_F(BpfCallPrograms, IgnoreFunctionsCalledByPrograms) {
  (*object_)->bss->made_up_flags = 0x10;
  // A program at the exit of a function that counts interrupts has level 2 or 3.
  for (const std::uint32_t level : {1u, 2u, 3u}) {
    (*object_)->bss->level_below = level;
    enter(1, kStack);
    EXPECT_EQ(shape(), "");
  }
  EXPECT_EQ((*object_)->bss->calls_without_ring, 0u);
}

TEST_F(BpfCallPrograms, PutInterruptsOnTopOfCalls) {
  enter(1, kStack);
  (*object_)->bss->made_up_flags = 0x08;
  enter(2, kStack + 0x10000);  // the interrupt has a separate stack
  leave(2, kStack + 0x10000);
  enter(3, kStack + 0x10000);  // the exit of this call is missed
  (*object_)->bss->made_up_flags = 0;
  enter(2, kStack - 64);
  leave(2, kStack - 64);
  leave(1, kStack);
  std::vector<unsigned> depths;
  for (const Seen& seen : take()) depths.push_back(seen.depth);
  EXPECT_EQ(depths, (std::vector<unsigned>{0, 1, 1, 1, 1, 1, 0}));
}

TEST_F(BpfCallPrograms, UseAnotherRingIfOneIsBeingWritten) {
  ring(0)->claim = 4711;
  enter(1, kStack);
  EXPECT_EQ(ring(0)->head, 0u);
  EXPECT_GT(ring(1)->head, 0u);
  EXPECT_EQ(ring(1)->claim, 0u);
  for (unsigned i = 1; i < KMT_CALL_RINGS; ++i) ring(i)->claim = 4711;
  leave(1, kStack);
  EXPECT_EQ((*object_)->bss->calls_without_ring, 1u);
  for (unsigned i = 0; i < KMT_CALL_RINGS; ++i) ring(i)->claim = 0;
  enter(1, kStack);
  leave(1, kStack);
  std::vector<bool> entries;
  for (const Seen& seen : take()) entries.push_back(seen.is_entry);
  EXPECT_EQ(entries, (std::vector<bool>{true, true, false}));
}

TEST_F(BpfCallPrograms, CountCallsThatAreTooDeep) {
  for (unsigned i = 0; i < KMT_MOST_OPEN + 3; ++i) enter(1, kStack - 16 * i);
  EXPECT_EQ(ring(0)->lost, 3u);
  for (unsigned i = KMT_MOST_OPEN + 3; i-- > 0;) leave(1, kStack - 16 * i);
  EXPECT_EQ(ring(0)->lost, 0u);
  std::size_t calls = 0;
  std::size_t losses = 0;
  reader_->take_rest(
      [&](const kmt_entry& entry, const std::uint64_t*) { ++(entry.event == KMT_ENTRY_LOST ? losses : calls); });
  EXPECT_EQ(calls, 2u * KMT_MOST_OPEN);
  EXPECT_EQ(losses, 1u);
}

TEST_F(BpfCallPrograms, DropExitsOfEntriesThatDidNotFit) {
  std::size_t entries = 0;
  for (; ring(0)->lost == 0; ++entries) {
    enter(1, kStack - 16 * static_cast<std::uint32_t>(entries % 8));
    ASSERT_LT(entries, kRingBytes);
  }
  const std::uint64_t head = ring(0)->head;
  enter(2, kStack - 512);
  leave(2, kStack - 512);
  EXPECT_EQ(ring(0)->head, head);
  EXPECT_EQ(ring(0)->lost, 2u);
  EXPECT_EQ(ring(0)->begun, ring(0)->head);
}

}  // namespace
}  // namespace kmt
