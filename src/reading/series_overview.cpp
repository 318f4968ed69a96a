// SPDX-License-Identifier: GPL-2.0-or-later
#include "reading/series_overview.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "analysis/snapshot/series_overview.hpp"
#include "base/error.hpp"
#include "reading/snapshots.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostParts = 2048;  // parts of the time, each with a smallest and a largest amount
// At least this number of snapshots is parsed with all texts, and less than twice this number. Parsing all snapshots
// with all texts would take minutes.
constexpr std::size_t kWholeSnapshots = 512;

// Small texts, which are parsed for every snapshot.
constexpr std::array<std::string_view, 6> kSmallTexts = {"meminfo",   "vmstat",   "zoneinfo",
                                                         "buddyinfo", "sockstat", "pressure"};

void keep_small_texts(StateSample& sample) {
  std::erase_if(sample.texts,
                [](const auto& text) { return std::ranges::find(kSmallTexts, text.first) == kSmallTexts.end(); });
}

KernelDescription described(const SnapshotFile& file) {
  if (file.reader() != nullptr) return file.reader()->kernel();
  KernelDescription unknown;
  unknown.page_size = 0;
  return unknown;
}

}  // namespace

SeriesOverview read_overview(const std::vector<std::string>& paths, double threshold_bytes_per_s,
                             const std::function<bool()>& interrupted) {
  std::vector<std::unique_ptr<SnapshotFile>> files;
  std::size_t snapshots = 0;
  for (const std::string& path : paths) {
    files.push_back(std::make_unique<SnapshotFile>(path));
    snapshots += files.back()->size();
  }
  SeriesOverviewAnalysis analysis(files.front()->first().memory.unix_ns, files.back()->last().memory.unix_ns,
                                  std::clamp<std::size_t>(snapshots, 1, kMostParts));
  const std::size_t step = std::max<std::size_t>(snapshots / kWholeSnapshots, 1);
  for (const auto& file : files) {
    const KernelDescription kernel = described(*file);
    for (std::size_t i = 0; i < file->size(); ++i) {
      if (interrupted()) throw Error("Interrupted before all snapshots were read");
      try {
        StateSample sample = file->sample(i);
        if (i % step != 0) keep_small_texts(sample);
        analysis.add(snapshot_of(sample, kernel));
      } catch (const Error&) {  // read_series() counts damaged snapshots
      }
    }
  }
  SeriesOverview overview = analysis.finish();
  for (const std::string& path : paths)
    overview.growth.push_back(read_series({path}, threshold_bytes_per_s, interrupted));
  return overview;
}

}  // namespace kmt
