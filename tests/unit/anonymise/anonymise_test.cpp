// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "anonymise/code_layout.hpp"
#include "anonymise/description.hpp"
#include "anonymise/pseudonyms.hpp"
#include "anonymise/records.hpp"
#include "anonymise/user_layout.hpp"

namespace kmt {
namespace {

const PseudonymKey kKey = key_of("a key of the tests, of no use elsewhere");

TEST(Pseudonyms, AddressesStayDistinctAndKeepTheirSlabOffset) {
  for (const unsigned bits : {32u, 64u}) {
    const Pseudonyms pseudonyms(kKey, bits);
    std::set<std::uint64_t> pages;
    for (std::uint64_t page = 0; page < 20'000; ++page) {
      const std::uint64_t address = (bits == 32 ? 0xc0000000 : 0xffff888000000000) + page * 4096;
      const std::uint64_t other = pseudonyms.address(address + 0x7c0);
      EXPECT_EQ(other & 0xFFF, 0x7c0u);
      EXPECT_EQ(pseudonyms.address(address & ~std::uint64_t{0x7FFF}) + (page % 8 * 4096 + 0x7c0), other);
      EXPECT_EQ(other >> 56, bits == 64 ? 0xFFu : 0u);
      EXPECT_LE(other, bits == 64 ? ~std::uint64_t{0} : 0xFFFFFFFFu);
      pages.insert(other >> 12);
    }
    EXPECT_EQ(pages.size(), 20'000u);
  }
}

TEST(Pseudonyms, OtherValuesStayUnchanged) {
  const Pseudonyms wide(kKey, 64), narrow(kKey, 32);
  for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{16}, ~std::uint64_t{11}})
    EXPECT_EQ(wide.address(address), address);
  EXPECT_EQ(narrow.address(0xFFFFFFF4), 0xFFFFFFF4u);
  EXPECT_EQ(wide.frame(~std::uint64_t{0}), ~std::uint64_t{0});
  EXPECT_EQ(narrow.frame(0xFFFFFFFF), 0xFFFFFFFFu);
}

TEST(Pseudonyms, NoPointerBecomesAnErrorValue) {
  // Each key maps one block of a 32-bit kernel to the last one, unless that is skipped.
  for (const char* secret : {"first", "second", "third"}) {
    const Pseudonyms pseudonyms(key_of(secret), 32);
    std::vector<bool> seen(1 << 17);
    for (std::uint64_t block = 0; block < seen.size(); ++block) {
      const std::uint64_t other = pseudonyms.address(block << 15 | 0x7E00);  // in the last 4 KiB of the block
      EXPECT_FALSE(seen[other >> 15]);
      seen[other >> 15] = true;
      EXPECT_EQ(other >> 15 == 0x1FFFF, block == 0x1FFFF);
    }
  }
}

TEST(Pseudonyms, NoFrameBecomesNoPage) {
  for (const char* secret : {"first", "second", "third"}) {
    const Pseudonyms pseudonyms(key_of(secret), 32);
    std::vector<bool> seen(1 << 14);
    for (std::uint64_t block = 0; block < seen.size(); ++block) {
      const std::uint64_t other = pseudonyms.frame(block << 18 | 0x3FFFF);
      EXPECT_FALSE(seen[other >> 18]);
      seen[other >> 18] = true;
      EXPECT_EQ(other == 0xFFFFFFFFu, block == 0x3FFF);
    }
  }
}

TEST(Pseudonyms, FramesOfABlockStayAdjacent) {
  const Pseudonyms pseudonyms(kKey, 64);
  std::set<std::uint64_t> blocks;
  for (std::uint64_t block = 0; block < 4096; ++block) {
    const std::uint64_t first = pseudonyms.frame(block << 13);
    for (const std::uint64_t page : {1u, 1024u, 8191u}) EXPECT_EQ(pseudonyms.frame((block << 13) + page), first + page);
    blocks.insert(first);
  }
  EXPECT_EQ(blocks.size(), 4096u);
}

TEST(Pseudonyms, NamesDependOnTheKey) {
  const Pseudonyms one(kKey, 64), same(kKey, 64), other(key_of("another key, of as little use"), 64);
  EXPECT_EQ(one.task("postgres"), same.task("postgres"));
  EXPECT_NE(one.task("postgres"), other.task("postgres"));
  EXPECT_NE(one.task("postgres"), one.task("postgrey"));
  EXPECT_EQ(one.task("postgres").size(), 15u);
  EXPECT_EQ(one.task("swapper/3"), "swapper/3");
  EXPECT_EQ(one.task("<...>"), "<...>");
  // When a task executes a program, it gets the name of the program's file.
  EXPECT_TRUE(one.program("/usr/local/bin/postgres").ends_with("/" + one.task("postgres")));
  EXPECT_EQ(one.program("/usr/local/bin/postgres").find("local"), std::string::npos);
}

TEST(Pseudonyms, CgroupsKeepTheirKind) {
  const Pseudonyms pseudonyms(kKey, 64);
  const std::string id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  const std::string container = pseudonyms.path("/system.slice/docker-" + id + ".scope");
  EXPECT_TRUE(container.starts_with("/system.slice/docker-"));
  EXPECT_TRUE(container.ends_with(".scope"));
  EXPECT_EQ(container.find(id), std::string::npos);
  EXPECT_EQ(container.size(), std::string_view("/system.slice/docker-.scope").size() + id.size());
  EXPECT_EQ(pseudonyms.path("/a/b/c/" + id).size(),
            std::string_view("/12345678/12345678/12345678/").size() + id.size());
  const std::string service = pseudonyms.path("/system.slice/payroll.service");
  EXPECT_TRUE(service.starts_with("/system.slice/"));
  EXPECT_TRUE(service.ends_with(".service"));
  EXPECT_EQ(service.find("payroll"), std::string::npos);
  EXPECT_EQ(pseudonyms.cache("dentry"), "dentry");
  EXPECT_EQ(pseudonyms.cache("dentry(17:payroll)").find("payroll"), std::string::npos);
}

constexpr std::string_view kKallsyms =
    "ffffffff9a400000 T _text\n"
    "ffffffff9a401230 t vfs_read\n"
    "ffffffff9c000000 B _end\n"
    "ffffffffc0a51000 t brd_init\t[brd]\n"
    "ffffffffc0a40000 t loop_add\t[loop]\n"
    "ffffffffff600000 T vsyscall_page\n";

TEST(CodeLayout, MovesTheKernelAndItsModules) {
  const CodeLayout code(kKallsyms, 64, 0);
  EXPECT_EQ(code.moved(0xffffffff9a401234), 0xffffffff81001234u);
  EXPECT_EQ(code.moved(0xffffffffc0a51010), 0xffffffffc0011010u);
  EXPECT_EQ(code.moved(0), 0u);
  EXPECT_EQ(code.moved(~std::uint64_t{0}), ~std::uint64_t{0});  // this value ends a stack
  EXPECT_EQ(code.kallsyms(kKallsyms),
            "ffffffff81000000 T _text\n"
            "ffffffff81001230 t vfs_read\n"
            "ffffffff82c00000 B _end\n"
            "ffffffffc0011000 t brd_init\t[brd]\n"
            "ffffffffc0000000 t loop_add\t[loop]\n");
}

TEST(CodeLayout, MovesAddressesInTexts) {
  const CodeLayout code(kKallsyms, 64, 0);
  EXPECT_EQ(code.modules("brd 16384 0 - Live 0xffffffffc0a51000 (OE)\nloop 40960 2 brd, Live 0xffffffffc0a40000\n"),
            "brd 16384 0 - Live 0xffffffffc0011000 (OE)\nloop 40960 2 brd, Live 0xffffffffc0000000\n");
  EXPECT_EQ(code.last_addresses("brd .text ffffffffc0a51000\n_stext ffffffff9a400000"),
            "brd .text ffffffffc0011000\n_stext ffffffff81000000\n");
  EXPECT_EQ(
      code.module_changes("+ 100 90 brd ffffffffc0a51000 16384 -\nffffffffc0a51000 t brd_init\t[brd]\n- 200 190 brd\n"),
      "+ 100 90 brd ffffffffc0011000 16384 -\nffffffffc0011000 t brd_init\t[brd]\n- 200 190 brd\n");
  // Incomplete lines must be dropped.
  EXPECT_EQ(code.module_changes("+ 1\n+ 1 2 x\n+\nnonsense\n"), "");
  EXPECT_EQ(code.last_addresses("word\nbrd .text xyz\n"), "");
}

TEST(CodeLayout, WithoutSymbolsAllAddressesMoveEqually) {
  const CodeLayout code("", 32, 0xabcdef12345);
  EXPECT_EQ(code.moved(0xc1001234) - code.moved(0xc1000000), 0x1234u);
  EXPECT_NE(code.moved(0xc1000000), 0xc1000000u);
  EXPECT_LE(code.moved(0xfffff000), 0xFFFFFFFFu);
}

TEST(UserLayout, CodeHasTheSameLayoutInAllProcesses) {
  UserMemory memory;
  memory.objects = {{"/home/jane/payroll", "abcdef", ""},
                    {"[vdso]", "", "0 10 clock_gettime\n"},
                    {"/tmp/perf-7.map", "", "7f00 10 secret\n"}};
  using Kind = SpaceChange::Kind;
  memory.changes = {{0, 7, Kind::mapped, 0, 0, 0x555500001000, 0x2000, 0x1000},
                    {0, 8, Kind::mapped, 0, 0, 0x666600001000, 0x2000, 0x1000},
                    {0, 7, Kind::mapped, 0, 1, 0x7fff00000000, 0x1000, 0},
                    {0, 7, Kind::mapped, 0, 2, 0x7f00, 0x1000, 0x7f00}};
  const UserLayout layout(memory);
  const std::uint64_t here = layout.moved(7, 100, 0x555500001234);
  EXPECT_EQ(layout.moved(8, 100, 0x666600001234), here);
  EXPECT_EQ(layout.moved(9, 100, 0x555500001234), 1u);  // the trace has no mappings of process 9
  EXPECT_EQ(layout.moved(7, 100, 0), 0u);
  EXPECT_EQ(layout.moved(7, 100, 0x7f10), 1u);  // this code is not in a file, so its offset would reveal an address

  const UserMemory written = layout.memory(memory, Pseudonyms(kKey, 64));
  ASSERT_EQ(written.changes.size(), 3u);
  AddressSpaces spaces;
  for (const SpaceChange& change : written.changes) spaces.add(change);
  const auto place = spaces.find(7, 100, here);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->object, 0u);
  EXPECT_EQ(place->offset, 0x1234u);
  EXPECT_EQ(written.objects[0].path.find("payroll"), std::string::npos);
  EXPECT_EQ(written.objects[0].build_id, "");
  EXPECT_EQ(written.objects[1].path, "[vdso]");
  EXPECT_EQ(written.objects[1].symbols, memory.objects[1].symbols);
  EXPECT_EQ(written.objects[2].symbols, "");
}

TEST(Anonymous, DescriptionDoesNotIdentifyTheMachine) {
  TraceDescription description;
  description.uname = "Linux payroll-db 6.1.0 x86_64";
  description.kernel.kallsyms = std::string(kKallsyms);
  description.kernel.saved_cmdlines = "17 postgres\n18 payroll\n";
  description.kernel.notes = {{"arguments", "kmemtrace record -- payroll"},
                              {"kernel_version", "#1 SMP"},
                              {"tasks", "17 1 4026531836 /system.slice/payroll.service\n18 17\n"},
                              {"cgroup_moves", "99 17 /system.slice/payroll.service\n"},
                              {"boot_id", "01234567-89ab"},
                              {"pods", "pod 1 payroll/db\n"},
                              {"odd", "payroll"}};
  StateSample sample;
  sample.texts = {
      {"meminfo", "MemTotal: 8 kB\n"},
      {"kmemleak", "comm \"payroll\""},
      {"vmallocinfo",
       "0xffffc90000000000-0xffffc90000005000   20480 kernel_clone+0x94/0x3e0 pages=4 phys=0x1234 vmalloc N0=4\n"},
      {"cgroups", "/payroll/memory.stat:anon 1\n"},
      {"pods", "pod 1 payroll/db\n"},
      {"older", "cgroups\t40\n"}};
  description.samples = {sample};
  std::vector<std::string> omitted;
  const TraceDescription to = anonymous(description, Pseudonyms(kKey, 64), CodeLayout(kKallsyms, 64, 0), omitted);

  EXPECT_EQ(omitted, (std::vector<std::string>{"arguments", "kmemleak", "odd", "pods"}));
  EXPECT_TRUE(to.uname.starts_with("Linux host-"));
  EXPECT_TRUE(to.uname.ends_with(" 6.1.0 x86_64"));
  EXPECT_EQ(to.kernel.notes.at("kernel_version"), "#1 SMP");
  EXPECT_NE(to.kernel.notes.at("boot_id"), "01234567-89ab");
  EXPECT_TRUE(to.kernel.notes.at("tasks").starts_with("17 1 4026531836 /system.slice/"));
  EXPECT_TRUE(to.kernel.notes.at("tasks").ends_with(".service\n18 17\n"));
  EXPECT_TRUE(to.kernel.notes.at("cgroup_moves").starts_with("99 17 /system.slice/"));
  EXPECT_EQ(to.kernel.notes.at("cgroup_moves").find("payroll"), std::string::npos);
  ASSERT_EQ(to.samples.size(), 1u);
  EXPECT_EQ(text_of(to.samples[0], "meminfo"), "MemTotal: 8 kB\n");
  EXPECT_EQ(text_of(to.samples[0], "older"), "cgroups\t40\n");
  EXPECT_EQ(text_of(to.samples[0], "vmallocinfo"), "0x0-0x0 20480 kernel_clone+0x94/0x3e0 pages=4 vmalloc N0=4\n");
  EXPECT_TRUE(text_of(to.samples[0], "cgroups").ends_with("/memory.stat:anon 1\n"));
  std::string all = to.uname + to.kernel.saved_cmdlines;
  for (const auto& [name, text] : to.kernel.notes) all += text;
  for (const auto& [name, text] : to.samples[0].texts) all += text;
  EXPECT_EQ(all.find("payroll"), std::string::npos);
  EXPECT_EQ(all.find("postgres"), std::string::npos);
}

TEST(Anonymous, DescriptionStatesThatOnlySomeTasksWereRecorded) {
  for (const auto& [arguments, some] :
       {std::pair("kmemtrace record -p 17 -d 3s", true), std::pair("kmemtrace record --cgroup=/payroll", true),
        std::pair("kmemtrace record -- payroll -p 17", false)}) {
    TraceDescription description;
    description.kernel.notes = {{"recorder", "kmemtrace 1.0"}, {"arguments", arguments}};
    std::vector<std::string> omitted;
    const TraceDescription to = anonymous(description, Pseudonyms(kKey, 64), CodeLayout(kKallsyms, 64, 0), omitted);
    ASSERT_EQ(to.cpu_stats.size(), some ? 1u : 0u) << arguments;
    if (!some) continue;
    EXPECT_TRUE(to.cpu_stats.front().starts_with("found: some_tasks 1 ")) << to.cpu_stats.front();
  }
}

class LastRecord : public RecordSink {
 public:
  void describe(const TraceDescription&) override {}
  void begin_stream(const RecordStream&) override {}
  void record(std::uint64_t, Bytes record) override { bytes.assign(record.begin(), record.end()); }
  void lost(std::optional<std::uint64_t>) override {}
  void end_stream() override {}

  std::uint64_t word(std::size_t at) const { return load<std::uint64_t>(bytes.data() + at, kHostOrder); }

  std::vector<std::uint8_t> bytes;
};

TEST(RecordAnonymiser, ABulkFreeKeepsOnlyItsObjects) {
  TraceDescription description;
  description.kernel.long_bytes = 8;
  description.kernel.formats = {{"kmemtrace",
                                 "name: free_bulk\nID: 700\nformat:\n"
                                 "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
                                 "\tfield:u64 count;\toffset:8;\tsize:8;\tsigned:0;\n"
                                 "\tfield:u64 objects[3];\toffset:16;\tsize:24;\tsigned:0;\n\nprint fmt: \"\"\n"}};
  LastRecord to;
  RecordAnonymiser anonymiser(kKey, to);
  anonymiser.describe(description);
  std::vector<std::uint8_t> record(40);
  store<std::uint16_t>(record.data(), 700, kHostOrder);
  const std::uint64_t object = 0xffff888012345678, secret = 0x70617373776f7264;
  for (const auto& [at, word] : {std::pair{8, std::uint64_t{1}}, std::pair{16, object}, std::pair{24, secret}})
    store<std::uint64_t>(record.data() + at, word, kHostOrder);
  anonymiser.record(1, record);
  ASSERT_EQ(to.bytes.size(), 40u);
  EXPECT_EQ(to.word(8), 1u);
  EXPECT_NE(to.word(16), object);
  EXPECT_EQ(to.word(16) & 0xFFF, object & 0xFFF);
  EXPECT_EQ(to.word(24), 0u);
  EXPECT_EQ(to.word(32), 0u);
}

// Returns the description of a 64-bit machine with the byte order of this one.
TraceDescription with_formats(std::vector<FormatText> formats) {
  TraceDescription description;
  description.kernel.byte_order = kHostOrder;
  description.kernel.long_bytes = 8;
  description.kernel.formats = std::move(formats);
  return description;
}

TEST(Records, PagesOfABulkAllocationHaveTheFramesOfOtherEvents) {
  const TraceDescription description =
      with_formats({{"kmemtrace",
                     "name: alloc_pages_bulk\nID: 700\nformat:\n"
                     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
                     "\tfield:u16 page_bytes;\toffset:4;\tsize:2;\tsigned:0;\n"
                     "\tfield:u64 count;\toffset:8;\tsize:8;\tsigned:0;\n"
                     "\tfield:u64 first_page;\toffset:16;\tsize:8;\tsigned:0;\n"
                     "\tfield:u64 objects[1];\toffset:24;\tsize:8;\tsigned:0;\n"
                     "\tfield:u64 more_objects[2];\toffset:32;\tsize:16;\tsigned:0;\n\nprint fmt: \"\"\n"},
                    {"kmem",
                     "name: mm_page_free\nID: 701\nformat:\n"
                     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
                     "\tfield:unsigned long pfn;\toffset:8;\tsize:8;\tsigned:0;\n\nprint fmt: \"\"\n"}});
  LastRecord to;
  RecordAnonymiser anonymiser(kKey, to);
  anonymiser.describe(description);
  const auto pass = [&](std::uint16_t id, std::initializer_list<std::pair<int, std::uint64_t>> words) {
    std::vector<std::uint8_t> record(48);
    store<std::uint16_t>(record.data(), id, kHostOrder);
    store<std::uint16_t>(record.data() + 4, 64, kHostOrder);
    for (const auto& [at, word] : words) store<std::uint64_t>(record.data() + at, word, kHostOrder);
    anonymiser.record(1, record);
  };
  const std::uint64_t base = 0xffffea0000000000;
  pass(701, {{8, 0x1234}});
  const std::uint64_t frame = to.word(8);
  pass(701, {{8, 0x4321}});
  const std::uint64_t other_frame = to.word(8);
  EXPECT_NE(frame, 0x1234u);
  pass(700, {{8, 2}, {16, base}, {24, base + 0x1234 * 64}, {32, base + 0x4321 * 64}, {40, 0x70617373776f7264}});
  EXPECT_EQ(to.word(16), 0u);
  EXPECT_EQ(to.word(24), frame * 64);
  EXPECT_EQ(to.word(32), other_frame * 64);
  EXPECT_EQ(to.word(40), 0u) << "memory after the kernel's array";
}

TEST(Records, ARangeOfPagesKeepsItsLength) {
  const TraceDescription description =
      with_formats({{"kmemtrace",
                     "name: alloc_page_range\nID: 700\nformat:\n"
                     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
                     "\tfield:u32 failed;\toffset:4;\tsize:4;\tsigned:0;\n"
                     "\tfield:u64 pfn;\toffset:8;\tsize:8;\tsigned:0;\n"
                     "\tfield:u64 end_pfn;\toffset:16;\tsize:8;\tsigned:0;\n\nprint fmt: \"\"\n"}});
  LastRecord to;
  RecordAnonymiser anonymiser(kKey, to);
  anonymiser.describe(description);
  std::vector<std::uint8_t> record(24);
  store<std::uint16_t>(record.data(), 700, kHostOrder);
  store<std::uint32_t>(record.data() + 4, 0xFFFFFFF0, kHostOrder);
  store<std::uint64_t>(record.data() + 8, 0x40000, kHostOrder);
  store<std::uint64_t>(record.data() + 16, 0x80000, kHostOrder);
  anonymiser.record(1, record);
  EXPECT_EQ(load<std::uint32_t>(to.bytes.data() + 4, kHostOrder), 0xFFFFFFF0u);
  EXPECT_NE(to.word(8), 0x40000u);
  EXPECT_EQ(to.word(16) - to.word(8), 0x40000u);
  // The frame of a later free has the same distance from the start of the range as before.
  const Pseudonyms pseudonyms(kKey, 64);
  EXPECT_EQ(pseudonyms.frame(0x40000), to.word(8));
  EXPECT_EQ(pseudonyms.frame(0x7FFFF), to.word(16) - 1);
  // The range ends with its first block of frames, because the next block has other pseudonyms.
  store<std::uint64_t>(record.data() + 8, 0x7FF00, kHostOrder);
  store<std::uint64_t>(record.data() + 16, 0x90000, kHostOrder);
  anonymiser.record(2, record);
  EXPECT_EQ(to.word(16) - to.word(8), 0x100u);
}

}  // namespace
}  // namespace kmt
