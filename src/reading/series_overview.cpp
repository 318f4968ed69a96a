// SPDX-License-Identifier: GPL-2.0-or-later
#include "reading/series_overview.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

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
constexpr std::array<std::string_view, 9> kSmallTexts = {"meminfo",  "vmstat", "zoneinfo", "buddyinfo", "sockstat",
                                                         "pressure", "dmesg",  "recorder", "oom"};

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

struct OverviewFile {
  std::string path;
  std::unique_ptr<SnapshotFile> file;
  std::uint64_t first_unix_ns;
  std::uint64_t last_unix_ns;
};

// Returns the files in order of time. Throws Error if a file has no times, or if the times of two files overlap,
// for example because a file is given twice.
std::vector<OverviewFile> open_in_order(const std::vector<std::string>& paths) {
  std::vector<OverviewFile> files;
  for (const std::string& path : paths) {
    auto file = std::make_unique<SnapshotFile>(path);
    const std::uint64_t first = file->first().memory.unix_ns;
    const std::uint64_t last = file->last().memory.unix_ns;
    if (first == 0)
      throw Error("The file has no times with year and time zone, but the page needs them")
          .at({path, {}, {}})
          .hint("`leaks` compares the states without times. `journalctl -k -o short-iso` saves a log with them");
    files.push_back({path, std::move(file), first, std::max(first, last)});
  }
  std::ranges::stable_sort(files, {}, &OverviewFile::first_unix_ns);
  for (std::size_t i = 1; i < files.size(); ++i)
    if (files[i].first_unix_ns <= files[i - 1].last_unix_ns)
      throw Error(fmt::format("The first snapshot is not later than the last one of {}", files[i - 1].path))
          .at({files[i].path, {}, {}})
          .hint("Name each file once, and only files of one machine that were written one after the other");
  return files;
}

}  // namespace

SeriesOverview read_overview(const std::vector<std::string>& paths, double threshold_bytes_per_s,
                             const std::function<bool()>& interrupted) {
  const std::vector<OverviewFile> files = open_in_order(paths);
  std::size_t snapshots = 0;
  for (const OverviewFile& one : files) snapshots += one.file->size();
  SeriesOverviewAnalysis analysis(files.front().first_unix_ns, files.back().last_unix_ns,
                                  std::clamp<std::size_t>(snapshots, 1, kMostParts));
  const std::size_t step = std::max<std::size_t>(snapshots / kWholeSnapshots, 1);
  for (const auto& [path, file, first, last] : files) {
    const KernelDescription kernel = described(*file);
    for (std::size_t i = 0; i < file->size(); ++i) {
      if (interrupted()) throw Error("Interrupted before all snapshots were read");
      try {
        StateSample sample = file->sample(i);
        const bool is_whole = i % step == 0;
        if (!is_whole) keep_small_texts(sample);
        analysis.add(snapshot_of(sample, kernel), is_whole);
      } catch (const Error&) {  // read_series() counts damaged snapshots
      }
    }
  }
  SeriesOverview overview = analysis.finish();
  for (const OverviewFile& one : files)
    overview.growth.push_back(read_series({one.path}, threshold_bytes_per_s, interrupted));
  return overview;
}

}  // namespace kmt
