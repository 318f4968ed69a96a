// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/frames/frames.hpp"

#include <string_view>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/confinement/privileges.hpp"
#include "base/error.hpp"
#include "base/temporary_folder.hpp"

namespace kmt {
namespace {

constexpr std::uint64_t kPageSize = 4096;

std::string_view bytes_of(const std::vector<std::uint64_t>& words) {
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(std::uint64_t)};
}

void create(const std::string& path, std::string_view text) {
  const FileDescriptor file(open_file(path, O_WRONLY | O_CREAT | O_TRUNC));
  write_all(file.get(), text, path);
}

class PageFrames : public ::testing::Test {
 protected:
  void write(const std::string& name, std::string_view text) { create(folder() + "/" + name, text); }
  std::string folder() const { return folder_.path(); }
  // Appends the words that are read to `flags` and `cgroups`. Returns "first:count" for each block of words.
  std::string read(FrameFiles& files, std::size_t most_calls = 100) {
    std::string calls;
    files.read([&](const FrameWords& words) {
      calls += std::to_string(words.first) + ":" + std::to_string(words.flags.size()) + " ";
      flags.insert(flags.end(), words.flags.begin(), words.flags.end());
      cgroups.insert(cgroups.end(), words.cgroups.begin(), words.cgroups.end());
      return --most_calls != 0;
    });
    return calls;
  }

  std::vector<std::uint64_t> flags;
  std::vector<std::uint64_t> cgroups;

 private:
  TemporaryFolder folder_;
};

TEST(RamInIomem, HasOnlyWholeFrames) {
  const auto ranges = ram_in_iomem(
      "00000000-00000fff : Reserved\n00001000-0009fbff : System RAM\n00100000-bfffffff : System RAM\n"
      "  01000000-02277287 : Kernel code\nc0001000-eebfffff : PCI Bus 0000:00\n100000000-63fffffff : System RAM\n",
      kPageSize);
  EXPECT_EQ(ranges, (std::vector<FrameRange>{{1, 0x9f}, {0x100, 0xc0000}, {0x100000, 0x640000}}));
}

TEST(RamInIomem, HasAddedMemoryAndJoinsOverlaps) {
  const auto ranges = ram_in_iomem(
      "280000000-37fffffff : Persistent Memory\n  280000000-37fffffff : dax0.0\n"
      "    280000000-37fffffff : System RAM (kmem)\n380000000-3ffffffff : virtio0\n"
      "  380000000-387ffffff : System RAM (virtio_mem)\n381000000-381ffffff : System RAM\n"
      "80000000-8fffffff : System RAM (boot alias)\n",
      kPageSize);
  EXPECT_EQ(ranges, (std::vector<FrameRange>{{0x280000, 0x388000}}));
}

TEST(RamInIomem, IsUnknownIfAddressesAreHidden) {
  EXPECT_TRUE(ram_in_iomem("00000000-00000000 : System RAM\n", kPageSize).empty());
  EXPECT_TRUE(ram_in_iomem("nonsense\n-5 : System RAM\n1000-1fff System RAM\n", kPageSize).empty());
}

TEST(PageblockOrder, IsInPagetypeinfo) {
  EXPECT_EQ(pageblock_order("Page block order: 13\nPages per block:  8192\n\nFree pages count\n"), 13u);
  EXPECT_EQ(pageblock_order(""), std::nullopt);
  EXPECT_EQ(pageblock_order("Page block order: 99\n"), std::nullopt);
}

TEST_F(PageFrames, ReadsTheRangesOfRam) {
  write("iomem", "00001000-00002fff : System RAM\n00005000-00005fff : System RAM\n");
  write("kpageflags", bytes_of({10, 11, 12, 13, 14, 15, 16}));
  write("kpagecgroup", bytes_of({20, 21, 22, 23, 24, 25, 26}));
  FrameFiles files(kPageSize, folder());
  EXPECT_EQ(files.frames(), 3u);
  EXPECT_EQ(read(files), "1:2 5:1 ");
  EXPECT_EQ(flags, (std::vector<std::uint64_t>{11, 12, 15}));
  EXPECT_EQ(cgroups, (std::vector<std::uint64_t>{21, 22, 25}));
}

TEST_F(PageFrames, ReadsAllFramesWithoutIomem) {
  write("kpageflags", bytes_of({1, 2, 3}));
  FrameFiles files(kPageSize, folder());
  EXPECT_FALSE(files.knows_ram());
  EXPECT_FALSE(files.has_cgroups());
  EXPECT_EQ(read(files), "0:3 ");
  EXPECT_TRUE(cgroups.empty());
}

TEST_F(PageFrames, ReadsLargeRangesInPartsAndStopsOnRequest) {
  constexpr std::size_t kCount = (1 << 17) + 5;
  std::vector<std::uint64_t> words(kCount);
  for (std::size_t i = 0; i < kCount; ++i) words[i] = i + 1;
  write("kpageflags", bytes_of(words));
  FrameFiles files(kPageSize, folder());
  EXPECT_EQ(read(files), "0:131072 131072:5 ");
  EXPECT_EQ(flags, words);
  EXPECT_EQ(read(files, 1), "0:131072 ");
}

// The last range of RAM may end after the end of the file.
TEST_F(PageFrames, EndsAtTheEndOfTheFile) {
  write("iomem", "00000000-0000ffff : System RAM\n");
  write("kpageflags", bytes_of({1, 2}));
  write("kpagecgroup", bytes_of({5}));
  FrameFiles files(kPageSize, folder());
  EXPECT_EQ(read(files), "0:2 ");
  EXPECT_EQ(cgroups, (std::vector<std::uint64_t>{5, 0}));
}

TEST_F(PageFrames, ExplainsWhyFramesCannotBeRead) {
  const auto error_of = [this] {
    try {
      FrameFiles files(kPageSize, folder());
      read(files);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::unsupported);
      return std::string(error.what()) + "; " + error.hint();
    }
    return std::string();
  };
  EXPECT_NE(error_of().find("CONFIG_PROC_PAGE_MONITOR"), std::string::npos);
  write("kpageflags", bytes_of({0, 0}));
  EXPECT_NE(error_of().find(std::string("shows no flags of any page frame; ") + hint_for_more_privileges()),
            std::string::npos);
  write("kpageflags", bytes_of({1, 2}));
  EXPECT_EQ(error_of(), "");
  write("iomem", "00000000-00000000 : System RAM\n");
  EXPECT_NE(error_of().find("CAP_SYS_ADMIN"), std::string::npos);
}

}  // namespace
}  // namespace kmt
