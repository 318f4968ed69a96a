// SPDX-License-Identifier: GPL-2.0-or-later
// Tests user stacks: mappings of code over time, which frames are kept, and how stacks are stored in a .kmt.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <future>
#include <memory>
#include <thread>
#include <unordered_map>

#include <fmt/format.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "capture/sideband/build_id_reader.hpp"
#include "capture/sideband/ended_processes.hpp"
#include "capture/sideband/user_memory.hpp"
#include "formats/kmt/user_memory.hpp"
#include "formats/user_stacks.hpp"
#include "symbols/elf_symbols.hpp"
#include "trace/code/address_spaces.hpp"
#include "trace/code/user_memory_parts.hpp"

namespace kmt {
namespace {

using Kind = SpaceChange::Kind;

SpaceChange mapped(std::uint64_t time_ns, std::int32_t process, std::uint64_t start, std::uint32_t object,
                   std::uint64_t file_offset = 0) {
  return {.time_ns = time_ns,
          .process = process,
          .kind = Kind::mapped,
          .object = object,
          .start = start,
          .size = 0x1000,
          .file_offset = file_offset};
}

TEST(AddressSpaces, ReturnTheMappingAtATime) {
  AddressSpaces spaces;
  spaces.add(mapped(0, 7, 0x1000, 2, 0x5000));
  spaces.add(mapped(10, 7, 0x1000, 3));  // replaces the earlier mapping
  spaces.add({.time_ns = 20, .process = 8, .kind = Kind::forked, .parent = 7});
  spaces.add(mapped(30, 7, 0x1000, 4));  // mapped by the parent after the fork
  spaces.add({.time_ns = 40, .process = 8, .kind = Kind::executed});
  spaces.add(mapped(41, 8, 0x8000, 5));

  const auto object = [&](std::int32_t process, std::uint64_t time_ns, std::uint64_t address) {
    const auto place = spaces.find(process, time_ns, address);
    return place ? static_cast<int>(place->object) : -1;
  };
  EXPECT_EQ(object(7, 5, 0x1234), 2);
  EXPECT_EQ(spaces.find(7, 5, 0x1234)->offset, 0x5234u);
  EXPECT_EQ(object(7, 10, 0x1234), 3);
  EXPECT_EQ(object(7, 35, 0x1fff), 4);
  EXPECT_EQ(object(7, 35, 0x2000), -1);
  EXPECT_EQ(object(8, 35, 0x1234), 3);  // the parent's mapping at the time of the fork
  EXPECT_EQ(object(8, 40, 0x1234), 3);  // the mapping from before execve()
  EXPECT_EQ(object(8, 50, 0x8000), 5);
  EXPECT_EQ(object(9, 50, 0x8000), -1);
  EXPECT_EQ(spaces.state(9, 50), 0u);
  EXPECT_NE(spaces.state(7, 5), spaces.state(7, 10));
  EXPECT_EQ(spaces.state(7, 10), spaces.state(7, 29));
}

TEST(AddressSpaces, StopAtACircleOfForks) {
  AddressSpaces spaces;
  spaces.add(mapped(0, 1, 0x1000, 2));
  for (std::int32_t process = 2; process < 10'000; ++process)
    spaces.add({.time_ns = 1, .process = process, .kind = Kind::forked, .parent = process - 1});
  EXPECT_TRUE(spaces.find(3, 5, 0x1000));
  EXPECT_FALSE(spaces.find(9'999, 5, 0x1000));
}

struct UserStacksTest : testing::Test {
  UserStacksTest() {
    info.code.user.objects.push_back({"/bin/make", "aa", ""});
    info.code.user.objects.push_back({"/lib/libc.so", "bb", ""});
  }
  std::vector<std::uint64_t> offsets(StackId stack) const {
    std::vector<std::uint64_t> found;
    for (const std::uint64_t frame : info.tables.stacks.user(stack))
      found.push_back(info.code.user.frames[frame].offset);
    return found;
  }
  StackId placed(std::int32_t process, std::vector<std::uint64_t> addresses, std::uint64_t time_ns = 5,
                 StackId kernel = {}) {
    return users.place(kernel, users.keep(process, addresses), time_ns);
  }

  TraceInfo info;
  UserStacks users{info};
};

TEST_F(UserStacksTest, TheSameCodeAtAnyAddressIsOneStack) {
  info.code.address_spaces.add(mapped(0, 1, 0x10000, 3));
  info.code.address_spaces.add(mapped(0, 2, 0x70000, 3));
  const StackId one = placed(1, {0x10010, 0x10020});
  EXPECT_EQ(one, placed(2, {0x70010, 0x70020}));
  EXPECT_EQ(offsets(one), (std::vector<std::uint64_t>{0x10, 0x20}));
  EXPECT_EQ(info.tables.stacks.user_stacks(), 1u);
  const UserFrame& innermost = info.code.user.frames[info.tables.stacks.user(one)[0]];
  EXPECT_EQ(innermost.object, 3u);
  EXPECT_EQ(innermost.is_return_address, 0u);
  EXPECT_EQ(info.code.user.frames[info.tables.stacks.user(one)[1]].is_return_address, 1u);
}

TEST_F(UserStacksTest, EndAtAddressesWithoutCode) {
  info.code.address_spaces.add(mapped(0, 1, 0x10000, 2));
  EXPECT_EQ(offsets(placed(1, {0x10010, 0x3, 0x10020})), (std::vector<std::uint64_t>{0x10}));
  // The program counter is kept even if it is in no mapping.
  EXPECT_EQ(offsets(placed(1, {0x5, 0x10020})), (std::vector<std::uint64_t>{0x5, 0x20}));
  // No mappings of this process are known.
  EXPECT_EQ(offsets(placed(4, {0x5, 0x6})), (std::vector<std::uint64_t>{0x5, 0x6}));
}

TEST_F(UserStacksTest, UseTheMappingsAtTheirTime) {
  info.code.address_spaces.add(mapped(0, 1, 0x10000, 2));
  info.code.address_spaces.add(mapped(10, 1, 0x10000, 3));
  const StackId before = placed(1, {0x10010}, 9);
  const StackId after = placed(1, {0x10010}, 10);
  EXPECT_NE(before, after);
  EXPECT_EQ(before, placed(1, {0x10010}, 0));
}

TEST_F(UserStacksTest, ArePairedWithTheKernelStack) {
  StackIds kernel_ids(info.tables.stacks);
  const std::vector<std::uint64_t> addresses = {0xffffffff81000010};
  const StackId kernel = kernel_ids.id_of(addresses);
  const StackId both = placed(1, {0x10010}, 5, kernel);
  EXPECT_EQ(info.tables.stacks[both].size(), 1u);
  EXPECT_EQ(info.tables.stacks[both][0], addresses[0]);
  EXPECT_EQ(info.tables.stacks.user(both).size(), 1u);
  EXPECT_EQ(both, placed(1, {0x10010}, 5, kernel));
  EXPECT_EQ(users.place(kernel, users.keep(1, {}), 5), kernel);
  EXPECT_EQ(info.tables.stacks.kernel_stacks(), 1u);
  EXPECT_EQ(info.tables.stacks.user_stacks(), 1u);
}

TEST(UserMemoryChunk, IsReadBackUnchanged) {
  UserMemory memory;
  memory.objects = {{"/bin/a b", "00ff", ""}, {"[vdso]", "", "10 20 clock_gettime\n"}};
  memory.changes = {mapped(0, 1, 0x10000, 1, 0x3000),
                    {.time_ns = 5, .process = 2, .kind = Kind::forked, .parent = 1},
                    {.time_ns = 6, .process = 2, .kind = Kind::executed},
                    mapped(7, 2, ~std::uint64_t{0} - 0xfff, 0)};
  const UserMemory read = kmt_format::decode_user_memory(kmt_format::encode_user_memory(memory));
  ASSERT_EQ(read.objects.size(), 2u);
  EXPECT_EQ(read.objects[0].path, "/bin/a b");
  EXPECT_EQ(read.objects[0].build_id, "00ff");
  EXPECT_EQ(read.objects[1].symbols, "10 20 clock_gettime\n");
  ASSERT_EQ(read.changes.size(), 4u);
  EXPECT_EQ(read.changes[0].file_offset, 0x3000u);
  EXPECT_EQ(read.changes[1].parent, 1);
  EXPECT_EQ(read.changes[2].kind, Kind::executed);
  EXPECT_EQ(read.changes[3].start, ~std::uint64_t{0} - 0xfff);
  EXPECT_EQ(read.changes[3].time_ns, 7u);
}

TEST(UserMemory, PartsOfATraceAreMerged) {
  UserMemory memory;
  memory.objects = {{"/bin/sh", "ab", ""}, {"/tmp/perf-7.map", "", "old"}};
  memory.changes = {{.time_ns = 5, .process = 7, .object = 1}};
  UserMemory more;
  more.objects = {{"/tmp/perf-7.map", "", "new"}, {"/bin/sh", "cd", ""}, {"/bin/sh", "ab", ""}};
  more.changes = {{.time_ns = 2, .process = 7, .object = 2}, {.time_ns = 9, .process = 7, .object = 1}};
  UserMemoryParts parts;
  parts.add(std::move(memory));
  parts.add(std::move(more));
  memory = parts.take();
  EXPECT_TRUE(parts.empty());
  ASSERT_EQ(memory.objects.size(), 3U);
  EXPECT_EQ(memory.objects[1].symbols, "new");
  std::vector<std::pair<std::uint64_t, std::string>> found;
  for (const SpaceChange& change : memory.changes)
    found.emplace_back(change.time_ns, memory.objects[change.object].path + memory.objects[change.object].build_id);
  const std::vector<std::pair<std::uint64_t, std::string>> expected = {
      {2, "/bin/shab"}, {5, "/tmp/perf-7.map"}, {9, "/bin/shcd"}};
  EXPECT_EQ(found, expected);
}

// The cost of a chunk must not depend on the number of objects in earlier chunks. Otherwise this test would run for
// hours.
TEST(UserMemory, ManySmallPartsNeedBoundedTime) {
  UserMemory most;
  most.objects.resize(kMostCodeObjects);
  for (std::size_t i = 0; i < most.objects.size(); ++i) most.objects[i].path = std::to_string(i);
  most.changes = {mapped(0, 1, 0x1000, 0)};
  UserMemoryParts parts;
  parts.add(std::move(most));
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    UserMemory more;
    more.objects = {{std::to_string(i), "", ""}};
    more.changes = {mapped(i, 1, 0x1000, 0)};
    parts.add(std::move(more));
  }
  UserMemory one_too_many;
  one_too_many.objects = {{"0", "", "changed"}, {"new", "", ""}};
  EXPECT_THROW(parts.add(std::move(one_too_many)), Error);
  const UserMemory all = parts.take();
  EXPECT_EQ(all.changes.size(), 100'001u);
  EXPECT_EQ(all.changes.back().object, 99'999u);
  EXPECT_EQ(all.objects.size(), kMostCodeObjects);
  EXPECT_EQ(all.objects.front().symbols, "");
}

TEST(UserMemoryChunk, IsRefusedIfDamaged) {
  UserMemory memory;
  memory.objects = {{"/bin/a", "00ff", ""}};
  memory.changes = {mapped(0, 1, 0x10000, 0)};
  const kmt_format::Payload whole = kmt_format::encode_user_memory(memory);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::size_t changes = 0;
    try {
      changes = kmt_format::decode_user_memory(Bytes(whole).first(size)).changes.size();
    } catch (const Error&) {
    }
    EXPECT_EQ(changes, 0u) << size;
  }
  memory.changes[0].object = 1;
  EXPECT_THROW(kmt_format::decode_user_memory(kmt_format::encode_user_memory(memory)), Error);
  const kmt_format::Payload many = {0xff, 0xff, 0xff, 0xff, 0x0f};
  EXPECT_THROW(kmt_format::decode_user_memory(many), Error);
}

TEST(Maps, OnlyExecutableMappingsAreCode) {
  const std::vector<MapsLine> lines = code_in_maps(
      "55d0c0a00000-55d0c0a02000 r--p 00000000 08:01 1234                       /usr/bin/make\n"
      "55d0c0a02000-55d0c0a07000 r-xp 00002000 08:01 1234                       /usr/bin/make\n"
      "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
      "7f0000002000-7f0000003000 r-xp 00000000 08:01 5 /tmp/a b\\012c (deleted)\n"
      "7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]\n"
      "7ffd00002000-7ffd00001000 r-xp 00000000 00:00 0 upside down\n"
      "no line\n7f-8\n");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].path, "/usr/bin/make");
  EXPECT_EQ(lines[0].start, 0x55d0c0a02000u);
  EXPECT_EQ(lines[0].end, 0x55d0c0a07000u);
  EXPECT_EQ(lines[0].file_offset, 0x2000u);
  EXPECT_EQ(lines[0].inode, 1234u);
  EXPECT_EQ(lines[1].path, "");
  EXPECT_EQ(lines[2].path, "/tmp/a b\nc");
  EXPECT_EQ(lines[3].path, "[vdso]");
}

TEST(BuildIds, OfAFileEqualThoseOfLibelf) {
  ElfSymbols self(open_file("/proc/self/exe", 0), "/proc/self/exe");
  EXPECT_EQ(build_id_of_file("/proc/self/exe"), self.build_id());
  EXPECT_EQ(build_id_of_file("/dev/null"), "");
  EXPECT_EQ(build_id_of_file("/proc/self/maps"), "");
}

TEST(ElfFunctions, AreFoundByTheirAddresses) {
  ElfSymbols self(open_file("/proc/self/exe", 0), "/proc/self/exe");
  const auto here = reinterpret_cast<std::uint64_t>(&code_in_maps);
  for (const MapsLine& line : code_in_maps(read_file("/proc/self/maps"))) {
    if (here < line.start || here >= line.end) continue;
    const std::uint64_t address = self.address_of(here - line.start + line.file_offset);
    const auto function = self.at(address + 1);
    ASSERT_TRUE(function);
    EXPECT_EQ(demangled(function->name), "kmt::code_in_maps");
    EXPECT_EQ(function->offset, 1u);
  }
}

TEST(ElfFunctions, HaveDemangledNames) {
  EXPECT_EQ(demangled("main"), "main");
  EXPECT_EQ(demangled("_ZN3foo3barEi"), "foo::bar");
  // The whole name is "foo::bar(int (*)()) const"; arguments are dropped.
  EXPECT_EQ(demangled("_ZNK3foo3barEPFivE"), "foo::bar");
  EXPECT_EQ(demangled("_ZN12_GLOBAL__N_13barEv"), "(anonymous namespace)::bar");
  EXPECT_EQ(demangled("_ZN3fooclEi"), "foo::operator()");
  EXPECT_EQ(demangled("_Znot_a_name"), "_Znot_a_name");
  EXPECT_EQ(demangled("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
}

TEST(BuildIdReader, DoesNotWaitForBlockedFiles) {
  const auto never = std::make_shared<std::promise<void>>();
  const auto asked = std::make_shared<std::atomic<int>>(0);
  {
    BuildIdReader reader(
        [never, asked](const std::string& path) -> std::string {
          if (path.starts_with("/dead")) {
            ++*asked;
            never->get_future().wait();
          }
          return path == "/here" ? "abcd" : "";
        },
        std::chrono::seconds(2));
    EXPECT_EQ(reader.read(1, {"/none", "/here"}), "abcd");
    EXPECT_EQ(reader.read(1, {"/none"}), "");
    EXPECT_EQ(reader.read(2, {"/dead/one"}), std::nullopt);
    EXPECT_EQ(reader.read(2, {"/dead/two"}), std::nullopt) << "on the same device";
    EXPECT_EQ(reader.read(1, {"/here"}), "abcd");
    EXPECT_NE(reader.thread(), 0);
  }
  EXPECT_EQ(*asked, 1);
  never->set_value();
}

SpaceChange change_of(std::int32_t process, SpaceChange::Kind kind, std::int32_t parent = 0) {
  SpaceChange change;
  change.process = process;
  change.kind = kind;
  change.parent = parent;
  return change;
}

std::vector<std::int32_t> processes_of(const std::vector<SpaceChange>& changes) {
  std::vector<std::int32_t> processes(changes.size());
  std::ranges::transform(changes, processes.begin(), &SpaceChange::process);
  return processes;
}

TEST(EndedProcesses, TheOldestAreForgottenButNoRunningProcess) {
  std::vector<SpaceChange> changes = {change_of(1, Kind::mapped),    change_of(2, Kind::mapped),
                                      change_of(3, Kind::mapped),    change_of(4, Kind::forked, 2),
                                      change_of(5, Kind::forked, 3), change_of(5, Kind::executed),
                                      change_of(6, Kind::mapped),    change_of(7, Kind::mapped)};
  std::unordered_map<std::int32_t, std::uint64_t> ended = {{2, 10}, {3, 20}, {6, 30}, {7, 40}};
  const auto none = [](std::int32_t) { return false; };
  forget_ended(changes, ended, 8, none);
  EXPECT_EQ(changes.size(), 8u) << "there are not too many";
  forget_ended(changes, ended, 7, none);
  EXPECT_EQ(processes_of(changes), (std::vector<std::int32_t>{1, 2, 4, 5, 5})) << "4 runs what 2 mapped";
  EXPECT_EQ(ended.size(), 1u);
}

// The first thread has ended, or an earlier task had this ID and its end was reported late.
TEST(EndedProcesses, AProcessWhoseIdIsInUseIsKept) {
  std::vector<SpaceChange> changes = {change_of(1, Kind::mapped), change_of(2, Kind::mapped),
                                      change_of(3, Kind::forked, 1), change_of(4, Kind::mapped),
                                      change_of(5, Kind::mapped)};
  std::unordered_map<std::int32_t, std::uint64_t> ended = {{1, 10}, {2, 20}, {3, 30}, {4, 40}};
  forget_ended(changes, ended, 3, [](std::int32_t process) { return process == 3; });
  EXPECT_EQ(processes_of(changes), (std::vector<std::int32_t>{1, 3, 5})) << "3 runs what 1 mapped";
  EXPECT_TRUE(ended.contains(3)) << "at its real end, it has a time";
}

std::string state_of(pid_t process) {
  const std::string stat = try_read_file(fmt::format("/proc/{}/stat", process)).value_or("");
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos ? "" : stat.substr(name_end + 2, 1);
}

// A first thread that has ended stays a zombie until the other threads have ended. The files about its memory in /proc
// are empty.
TEST(EndedProcesses, AFirstThreadMayEndBeforeOthers) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    pthread_t other;
    ::pthread_create(
        &other, nullptr, [](void*) -> void* { return ::pause(), nullptr; }, nullptr);
    ::syscall(SYS_exit, 0);
  }
  for (int i = 0; i < 1000 && state_of(child) != "Z"; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(state_of(child), "Z");
  EXPECT_TRUE(is_process(child));
  EXPECT_EQ(try_read_file(fmt::format("/proc/{}/maps", child)).value_or(""), "");
  const ProcessMaps maps = maps_of(child);
  EXPECT_NE(maps.task, child);
  EXPECT_FALSE(code_in_maps(maps.text).empty());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_process(child));
  EXPECT_TRUE(maps_of(child).text.empty());
  EXPECT_FALSE(is_process(0));
  EXPECT_FALSE(is_process(-1)) << "all processes, to kill(2)";
}

}  // namespace
}  // namespace kmt
