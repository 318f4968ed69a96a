// SPDX-License-Identifier: GPL-2.0-or-later
// Damages each byte of a small series of snapshots in turn. The rest must be readable, with a finding, and repair must
// be possible.
#include "formats/kmt/snapshot.hpp"

#include <filesystem>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "formats/kmt/description.hpp"
#include "formats/kmt/file_writer.hpp"
#include "formats/kmt/repair.hpp"

namespace kmt {
namespace {

using namespace kmt_format;

constexpr unsigned kSnapshots = 4;  // number of snapshots: two complete ones, each followed by a difference

StateSample snapshot_number(unsigned number) {
  std::mt19937 random(number / 2);
  std::string text;
  for (unsigned i = 0; i < 400; ++i) text += static_cast<char>('a' + random() % 26);
  return {number, number, {{"meminfo", text + std::to_string(number)}}};
}

std::vector<std::uint8_t> series_file(const std::string& path) {
  KernelDescription kernel;
  kernel.system_name = "Linux";
  kernel.node_name = "host";
  kernel.release = "6.1.0";
  kernel.machine = "aarch64";
  kernel.page_size = 65536;
  SnapshotWriter writer(path, kernel);
  for (unsigned i = 0; i < kSnapshots; ++i) writer.add(snapshot_number(i));
  writer.finish();
  const std::string text = read_file(path);
  std::filesystem::remove(path);
  return {text.begin(), text.end()};
}

struct Seen {
  std::size_t intact = 0;
  bool is_whole = false;     // all snapshots and the description are intact
  bool has_finding = false;  // true: at least one finding was reported
};

Seen see(const std::vector<std::uint8_t>& file) {
  SnapshotReader reader(TraceFile{"series.kmt", file, nullptr});
  Seen seen;
  for (std::size_t i = 0; i < reader.size(); ++i) {
    try {
      const StateSample sample = reader.at(i);
      EXPECT_EQ(sample.texts, snapshot_number(static_cast<unsigned>(sample.ticks)).texts);
      ++seen.intact;
    } catch (const Error&) {
    }
  }
  seen.is_whole =
      seen.intact == kSnapshots && reader.kernel().node_name == "host" && reader.kernel().page_size == 65536;
  seen.has_finding =
      !reader.damage().empty() || reader.without_base() > 0 || seen.intact < reader.size() || !reader.finished();
  return seen;
}

std::vector<std::uint8_t> repaired(const std::vector<std::uint8_t>& file, const Repair& plan) {
  std::vector<std::uint8_t> out;
  for (const auto& [offset, bytes] : plan.kept) {
    const auto from = file.begin() + static_cast<std::ptrdiff_t>(offset);
    out.insert(out.end(), from, from + static_cast<std::ptrdiff_t>(bytes));
  }
  out.insert(out.end(), plan.end.begin(), plan.end.end());
  return out;
}

TEST(KmtSnapshots, ADamagedByteLosesOnlyItsChunk) {
  const std::vector<std::uint8_t> intact = series_file(::testing::TempDir() + fmt::format("series{}", ::getpid()));
  ASSERT_TRUE(see(intact).is_whole);
  ASSERT_FALSE(see(intact).has_finding);
  EXPECT_FALSE(plan_repair(intact).needed);
  for (std::size_t at = kFileHeaderBytes; at < intact.size(); ++at) {
    SCOPED_TRACE(at);
    std::vector<std::uint8_t> file = intact;
    file[at] ^= 0x10;
    const Seen seen = see(file);
    EXPECT_GE(seen.intact, kSnapshots / 2);
    EXPECT_TRUE(seen.is_whole || seen.has_finding);
    const Repair plan = plan_repair(file);
    ASSERT_TRUE(plan.readable);
    EXPECT_TRUE(plan.needed);
    const Seen again = see(repaired(file, plan));
    EXPECT_EQ(again.intact, seen.intact);
    EXPECT_EQ(plan.snapshots, seen.intact);
    EXPECT_TRUE(again.is_whole || again.has_finding);
  }
}

// Returns a sample whose lines mostly equal those of the neighbours. Some lines appear only in some samples.
StateSample similar_number(std::uint64_t number) {
  std::string text;
  for (std::uint64_t i = 0; i < 50; ++i)
    if (number % 70 != i) text += fmt::format("line{}: {:>8} kB\n", i, i * 1000 + number / (i + 1));
  return {number * 10, 1000 + number * 10, {{"meminfo", text}, {"slab", number % 100 < 50 ? "old 1\n" : "new 2\n"}}};
}

TEST(KmtSnapshots, ALongSeriesCanBeReadInAnyOrder) {
  constexpr std::uint64_t kLong = 5000;  // more than a group
  const std::string path = ::testing::TempDir() + fmt::format("long{}", ::getpid());
  {
    SnapshotWriter writer(path, KernelDescription{});
    for (std::uint64_t i = 0; i < kLong; ++i) writer.add(similar_number(i));
    writer.finish();
  }
  const std::string text = read_file(path);
  std::filesystem::remove(path);
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  EXPECT_LT(bytes.size() / kLong, 120U);  // a complete sample has more than 1000 bytes
  SnapshotReader reader(TraceFile{"long.kmt", bytes, nullptr});
  ASSERT_EQ(reader.size(), kLong);
  EXPECT_TRUE(reader.damage().empty());
  std::mt19937 random(1);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const std::uint64_t number = i < 1000 ? kLong - 1000 + i : random() % kLong;
    const StateSample sample = reader.at(number);
    const StateSample wanted = similar_number(number);
    ASSERT_EQ(sample.texts, wanted.texts) << number;
    ASSERT_EQ(sample.ticks, wanted.ticks);
    ASSERT_EQ(sample.unix_ns, wanted.unix_ns);
  }
  const Repair plan = plan_repair(bytes);
  EXPECT_FALSE(plan.needed);
  EXPECT_EQ(plan.snapshots, kLong);
}

TEST(KmtSnapshots, PatchesOfOlderVersionsAreRead) {
  const std::string path = ::testing::TempDir() + fmt::format("patches{}", ::getpid());
  const std::vector<std::uint8_t> base = encode_sample(similar_number(1));
  const std::vector<std::uint8_t> later = encode_sample(similar_number(2));
  {
    FileWriter writer(path);
    writer.append(pack(kState, 1, base));
    writer.append(PackedChunk{kStatePatch, 1, make_patch(kStatePatch, 1, base, later)});
    writer.append(PackedChunk{kStatePatch, 2, make_patch(kStatePatch, 2, base, later)});  // its base is missing
    writer.finish();
  }
  const std::string text = read_file(path);
  std::filesystem::remove(path);
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  SnapshotReader reader(TraceFile{"old.kmt", bytes, nullptr});
  ASSERT_EQ(reader.size(), 2U);
  EXPECT_EQ(reader.without_base(), 1U);
  EXPECT_EQ(reader.at(1).texts, similar_number(2).texts);
  EXPECT_EQ(reader.at(0).texts, similar_number(1).texts);
}

// Returns a file with a complete sample and three deltas, which has `patches` patches after the chunk `place`.
std::vector<std::uint8_t> mixed_group(std::size_t place, unsigned patches) {
  const std::string path = ::testing::TempDir() + fmt::format("mixed{}", ::getpid());
  {
    SnapshotWriter writer(path, KernelDescription{});
    for (std::uint64_t i = 0; i < 4; ++i) writer.add(similar_number(i));
    writer.finish();
  }
  const std::string text = read_file(path);
  std::filesystem::remove(path);
  const std::vector<std::uint8_t> plain(text.begin(), text.end());
  const std::vector<std::uint8_t> base = encode_sample(similar_number(0));
  std::vector<std::uint8_t> bytes(plain.begin(), plain.begin() + kFileHeaderBytes);
  std::uint64_t offset = kFileHeaderBytes;
  for (std::size_t samples = 0; const std::optional<Chunk> chunk = find_chunk(plain, offset);) {
    offset = chunk->end();
    if (chunk->type == kIndex) continue;
    bytes.insert(bytes.end(), plain.begin() + static_cast<std::ptrdiff_t>(chunk->offset),
                 plain.begin() + static_cast<std::ptrdiff_t>(offset));
    if (!is_sample(chunk->type) || samples++ != place) continue;
    const std::vector<std::uint8_t> patch =
        make_patch(kStatePatch, kGroupSamples, base, encode_sample(similar_number(9)));
    for (unsigned i = 0; i < patches; ++i) bytes.insert(bytes.end(), patch.begin(), patch.end());
  }
  return bytes;
}

TEST(KmtSnapshots, AGroupHasEitherPatchesOrDeltas) {
  for (std::size_t place = 0; place < 4; ++place) {
    SCOPED_TRACE(place);
    const std::vector<std::uint8_t> file = mixed_group(place, 8);
    SnapshotReader reader(TraceFile{"mixed.kmt", file, nullptr});
    const bool are_patches_first = place == 0;
    EXPECT_EQ(reader.size(), are_patches_first ? 9U : 4U);
    EXPECT_EQ(reader.without_base(), are_patches_first ? 3U : 8U);
    for (std::size_t i = reader.size(); i-- > 0;) {
      const std::uint64_t number = !are_patches_first ? i : i == 0 ? 0 : 9;
      EXPECT_EQ(reader.at(i).texts, similar_number(number).texts);
    }
    EXPECT_EQ(plan_repair(file).snapshots, reader.size());
  }
}

}  // namespace
}  // namespace kmt
