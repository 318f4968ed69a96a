// SPDX-License-Identifier: GPL-2.0-or-later
// Damages each byte of a small series of snapshots in turn. The rest must be readable, with a finding, and repair must
// be possible.
#include "formats/kmt/snapshot.hpp"

#include <filesystem>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "formats/kmt/repair.hpp"

namespace kmt {
namespace {

using namespace kmt_format;

constexpr unsigned kSnapshots = 4;  // number of snapshots: two complete ones, each followed by a patch

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

}  // namespace
}  // namespace kmt
