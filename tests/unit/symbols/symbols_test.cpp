// SPDX-License-Identifier: GPL-2.0-or-later
// Tests parts of the search for symbols, with hand-made data. tests/oracle/symbols_test.py tests whole files.
#include "symbols/symbols.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/build_id.hpp"
#include "base/error.hpp"
#include "capture/sideband/build_ids.hpp"
#include "symbols/debug_files.hpp"
#include "symbols/debug_info.hpp"
#include "symbols/placement.hpp"

namespace kmt {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "kmemtrace-test-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  void put(const std::string& name, std::string_view text) const {
    fs::create_directories(fs::path(path + "/" + name).parent_path());
    std::ofstream(path + "/" + name, std::ios::binary) << text;
  }
  std::string path;
};

std::string build_id_of(std::string_view notes, ByteOrder order) {
  return gnu_build_id({reinterpret_cast<const std::uint8_t*>(notes.data()), notes.size()}, order);
}

using namespace std::string_view_literals;

constexpr std::string_view kXenNote = "\4\0\0\0\2\0\0\0\6\0\0\0Xen\0\1\1\0\0"sv;
constexpr std::string_view kIdNote = "\4\0\0\0\3\0\0\0\3\0\0\0GNU\0\xab\x00\x12\0"sv;

TEST(BuildId, IsFoundAmongNotes) {
  EXPECT_EQ(build_id_of(kIdNote, ByteOrder::little), "ab0012");
  EXPECT_EQ(build_id_of(std::string(kXenNote) + std::string(kIdNote), ByteOrder::little), "ab0012");
  EXPECT_EQ(build_id_of("\0\0\0\4\0\0\0\2\0\0\0\3GNU\0\xcd\xef\0\0"sv, ByteOrder::big), "cdef");
  EXPECT_EQ(build_id_of(kXenNote, ByteOrder::little), "");
  EXPECT_EQ(build_id_of("", ByteOrder::little), "");
}

TEST(BuildId, SurvivesDamagedNotes) {
  const std::string notes = std::string(kXenNote) + std::string(kIdNote);
  for (std::size_t size = 0; size < notes.size() - 1; ++size)
    EXPECT_EQ(build_id_of(notes.substr(0, size), ByteOrder::little), "") << size;
  EXPECT_EQ(build_id_of("\xff\xff\xff\xff\xff\xff\xff\xff\3\0\0\0GNU\0"sv, ByteOrder::little), "");
  EXPECT_EQ(build_id_of("\4\0\0\0\xff\xff\xff\xff\3\0\0\0GNU\0"sv, ByteOrder::little), "");
}

TEST(BuildId, IsHex) {
  EXPECT_TRUE(is_build_id("00ff"));
  for (const char* text : {"", "0", "0F", "../x", "00 1"}) EXPECT_FALSE(is_build_id(text)) << text;
  EXPECT_FALSE(is_build_id(std::string(200, '0')));
}

TEST(BuildIds, OfModulesAreReadIfTheKernelShowsThem) {
  const Folder folder;
  folder.put("ext4/notes/.note.gnu.build-id", kIdNote);
  folder.put("ext4/sections/.text", "0xffffffffc0481000\n");
  folder.put("ext4/sections/.text.unlikely", "0xffffffffc0483000\n");
  folder.put("ext4/sections/.data", "0xffffffffc0489000\n");
  folder.put("hidden/sections/.text", "0x0000000000000000\n");
  folder.put("printk/parameters/time", "Y\n");
  EXPECT_EQ(module_build_ids(folder.path), "ext4 ab0012\n");
  EXPECT_EQ(module_sections(folder.path), "ext4 .text ffffffffc0481000\next4 .text.unlikely ffffffffc0483000\n");
  EXPECT_EQ(module_build_ids(folder.path + "/none"), "");
}

TEST(DebugFiles, AreFoundByBuildId) {
  const Folder folder;
  folder.put("usr/lib/debug/.build-id/ab/0012.debug", "");
  EXPECT_EQ(files_of_build_id(folder.path, "ab0012").size(), 1u);
  EXPECT_EQ(files_of_build_id(folder.path, "ab0013").size(), 0u);
  EXPECT_EQ(files_of_build_id(folder.path, "ab/../ab0012").size(), 0u);
  EXPECT_EQ(files_of_build_id(folder.path, "").size(), 0u);
}

TEST(DebugFiles, OfModulesAreFoundByTheNameInTheKernel) {
  const Folder folder;
  folder.put("lib/modules/6.1/kernel/net/nf-log.ko.debug", "");
  folder.put("usr/lib/debug/lib/modules/6.1/extra/odd.ko", "");
  folder.put("lib/modules/6.1/kernel/net/packed.ko.xz", "");
  folder.put("lib/modules/6.2/kernel/other.ko", "");
  const auto files = module_files(folder.path, "6.1");
  EXPECT_EQ(files.size(), 2u);
  EXPECT_EQ(files.count("nf_log"), 1u);
  EXPECT_EQ(files.count("odd"), 1u);
  EXPECT_TRUE(module_files(folder.path, "../modules/6.1").empty());
  EXPECT_TRUE(module_files(folder.path, "..").empty());
}

TEST(SourcePath, IsRelativeToTheBuildFolder) {
  EXPECT_EQ(short_source_path("/home/me/linux/fs/dcache.c", "/home/me/linux"), "fs/dcache.c");
  EXPECT_EQ(short_source_path("/home/me/linux/./include/../fs/dcache.c", "/home/me/linux/"), "fs/dcache.c");
  EXPECT_EQ(short_source_path("/build/linux-6.1/fs/dcache.c", "/build/linux-6.1/debian/build/amd64"), "fs/dcache.c");
  EXPECT_EQ(short_source_path("debian/build/amd64/fs/dcache.c", "debian/build/amd64"), "fs/dcache.c");
  EXPECT_EQ(short_source_path("fs/dcache.c", "/home/me/linux"), "fs/dcache.c");
  // The two paths have only /home in common, so the source folder is not known.
  EXPECT_EQ(short_source_path("/home/me/linux/fs/dcache.c", "/home/build"), "/home/me/linux/fs/dcache.c");
  EXPECT_EQ(short_source_path("/usr/src/a.c", "/"), "/usr/src/a.c");
  EXPECT_EQ(short_source_path("/../a.c", "/x"), "/../a.c");
  EXPECT_EQ(short_source_path("../../a.c", "../.."), "a.c");
  EXPECT_EQ(short_source_path("", ""), "");
}

TEST(Placement, TranslatesAddressesInItsRanges) {
  Placement placement;
  placement.stretches = {{0x1000, 0x100, 0x10}, {0x2000, 0x10, 0x500}};
  EXPECT_EQ(placement.link_address(0x1000), 0x10u);
  EXPECT_EQ(placement.link_address(0x10ff), 0x10fu);
  EXPECT_EQ(placement.link_address(0x1100), std::nullopt);
  EXPECT_EQ(placement.link_address(0x2001), 0x501u);
  EXPECT_EQ(placement.link_address(0xfff), std::nullopt);
  EXPECT_EQ(placement.link_address(~std::uint64_t{0}), std::nullopt);
  EXPECT_FALSE(placement.is_plausible());
  placement.symbols_known = 100;
  placement.symbols_right = 95;
  EXPECT_TRUE(placement.is_plausible());
  placement.symbols_right = 94;
  EXPECT_FALSE(placement.is_plausible());
}

// Symbols must only be read if they are needed. The kernel needs a long time to print them, and some results contain no
// names.
TEST(Symbols, AreReadOnlyWhenNeeded) {
  const TraceInfo info;  // the trace has no symbols, and no build ID by which they could be found
  const WrapperList none;
  const Symbols symbols(info, {}, none);
  EXPECT_EQ(symbols.findings().count_of(Imperfection::no_kernel_symbols), 0u);
  EXPECT_EQ(symbols.name(0x1234), "0x1234");
  EXPECT_EQ(symbols.name(0x5678), "0x5678");
  EXPECT_EQ(symbols.findings().count_of(Imperfection::no_kernel_symbols), 1u);
}

TEST(Symbols, HaveNamesWithoutDebugInfo) {
  TraceInfo info;
  info.code.kallsyms = "1000 T one\n2000 T two\t[odd]\n3000 T end\t[odd]\n";
  const WrapperList none;
  const Symbols symbols(info, {}, none);
  EXPECT_EQ(symbols.name(0x2001), "two+0x1 [odd]");
  EXPECT_TRUE(symbols.frames(0x2001).empty());
  EXPECT_TRUE(symbols.findings().kept().empty());
}

TEST(Symbols, ReportFilesThatCannotBeOpened) {
  TraceInfo info;
  const WrapperList none;
  EXPECT_THROW(Symbols(info, {.vmlinux = "/nonexistent/vmlinux"}, none), Error);
  EXPECT_THROW(Symbols(info, {.vmlinux = "/dev/null"}, none), Error);
  EXPECT_THROW(Symbols(info, {.debug_dirs = {"/nonexistent"}}, none), Error);
}

TEST(Symbols, ModuleOfAnAddress) {
  const Kallsyms names("1000 T one\n2000 T two\t[odd]\n3000 T end\t[odd]\n");
  EXPECT_EQ(names.module(0x1fff), "");
  EXPECT_EQ(names.module(0x2000), "odd");
  EXPECT_EQ(names.module(0x1), std::nullopt);
  EXPECT_EQ(names.module(0x4000), std::nullopt);
}

}  // namespace
}  // namespace kmt
