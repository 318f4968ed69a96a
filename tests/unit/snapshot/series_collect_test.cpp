// SPDX-License-Identifier: GPL-2.0-or-later
// Tests which sources a series of snapshots reads again. The sources are those of this machine. To see what is
// repeated, the tests replace the texts that were read.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "base/words.hpp"
#include "snapshot/collect.hpp"

namespace kmt {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::string_view kOld = "old";

// Replaces the text and the cost of each source.
void plant(SeriesReadings& readings, std::uint64_t cpu_ns) {
  for (auto& [name, reading] : readings.sources) {
    reading.cpu_ns = cpu_ns;
    for (auto& [text_name, text] : reading.texts) text = kOld;
  }
}

std::size_t old_texts(const StateSample& sample) {
  return static_cast<std::size_t>(std::ranges::count(sample.texts, kOld, [](const auto& text) { return text.second; }));
}

TEST(SeriesOfSnapshots, FilesOfTheBalanceSheetAreNeverRepeated) {
  SeriesReadings readings;
  EXPECT_EQ(text_of(collect_snapshot(readings, 64 * kSecond), "older"), "");
  plant(readings, kSecond);  // all sources are slow
  const StateSample sample = collect_snapshot(readings, 65 * kSecond);
  for (const char* const name : {"meminfo", "vmstat", "zoneinfo", "buddyinfo", "sockstat", "pressure", "node_meminfo"})
    EXPECT_NE(text_of(sample, name), kOld) << name;
  EXPECT_NE(text_of(sample, "meminfo").find("MemTotal:"), std::string_view::npos);
  EXPECT_EQ(text_of(sample, "owners"), kOld);
  std::size_t lines = 0;
  each_line(text_of(sample, "older"), [&](std::string_view line) {
    ++lines;
    EXPECT_TRUE(line.ends_with("\t1")) << line;
    EXPECT_EQ(text_of(sample, line.substr(0, line.find('\t'))), kOld) << line;
  });
  EXPECT_EQ(lines, old_texts(sample));
}

// Two sources are slow. Returns the texts that are repeated after this time, in which fast sources took CPU time.
std::string repeated_after(std::uint64_t fast_cpu_ns, std::uint64_t ns = 3 * kSecond) {
  SeriesReadings readings;
  collect_snapshot(readings, 64 * kSecond);
  plant(readings, 900'000);
  for (const auto& [name, cpu_ns] : {std::pair("vmallocinfo", 300 * kSecond), std::pair("owners", 100 * kSecond)}) {
    readings.sources.at(name).cpu_ns = cpu_ns;
    readings.sources.at(name).texts = {{name, std::string(kOld)}};
  }
  readings.fast_cpu_ns += fast_cpu_ns;
  return std::string(text_of(collect_snapshot(readings, 64 * kSecond + ns), "older"));
}

TEST(SeriesOfSnapshots, SlowSourcesTakeAtMostAsMuchTimeAsFastSources) {
  EXPECT_EQ(repeated_after(150 * kSecond), "vmallocinfo\t3\nowners\t3\n");
  EXPECT_EQ(repeated_after(250 * kSecond), "vmallocinfo\t3\n");
  EXPECT_EQ(repeated_after(650 * kSecond), "");
}

TEST(SeriesOfSnapshots, SlowSourcesAreReadLessOftenInALongSeries) {
  EXPECT_EQ(repeated_after(650 * kSecond, kSecond / 10), "vmallocinfo\t0\nowners\t0\n") << "64 s / 512 are 125 ms";
  EXPECT_EQ(repeated_after(650 * kSecond, kSecond / 5), "");
}

TEST(SeriesOfSnapshots, OldTextsAreReadAgainWhateverItCosts) {
  EXPECT_EQ(repeated_after(0, 899 * kSecond), "vmallocinfo\t899\nowners\t899\n");
  EXPECT_EQ(repeated_after(0, 900 * kSecond), "");
}

TEST(SeriesOfSnapshots, FastSourcesAreAlwaysRead) {
  SeriesReadings readings;
  collect_snapshot(readings, 64 * kSecond);
  plant(readings, 900'000);
  readings.sources.at("owners").cpu_ns = kSecond;
  const StateSample sample = collect_snapshot(readings, 65 * kSecond);
  EXPECT_EQ(old_texts(sample), 1u);
  EXPECT_EQ(text_of(sample, "owners"), kOld);
}

}  // namespace
}  // namespace kmt
