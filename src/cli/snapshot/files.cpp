// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/snapshot/files.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "analysis/snapshot/series.hpp"
#include "analysis/snapshot/snapshot.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "cli/support/interrupt.hpp"
#include "formats/kmt/file.hpp"
#include "formats/kmt/snapshot.hpp"
#include "snapshot/collect.hpp"
#include "snapshot/parse.hpp"

namespace kmt {

namespace {

TraceFile open(const std::string& path) {
  auto mapping = std::make_shared<const MappedFile>(path);
  return {path, mapping->bytes(), mapping};
}

}  // namespace

bool is_snapshot_file(const std::string& path) {
  try {
    std::error_code none;  // checks first that the file is regular, because a pipe can be read only once
    return std::filesystem::is_regular_file(path, none) &&
           kmt_format::content_of(open(path).bytes) == kmt_format::Content::snapshots;
  } catch (const Error&) {
    return false;
  }
}

bool is_snapshot(const std::string& path) { return is_snapshot_file(path) || has_meminfo_copy(path); }

bool has_snapshots(const std::string& path) {
  try {
    const SnapshotFile file(path);
    return file.size() + file.reader().without_base() > 1;
  } catch (const Error&) {
    return false;
  }
}

SnapshotResult snapshot_of(const StateSample& sample, const KernelDescription& kernel) {
  KernelMemory memory = parse_snapshot(sample, kernel.page_size);
  if (memory.release.empty()) memory.release = kernel.release;
  if (memory.machine.empty()) memory.machine = kernel.machine;
  if (memory.host.empty()) memory.host = kernel.node_name;
  return take_stock(std::move(memory));
}

SnapshotFile::SnapshotFile(const std::string& path) : file_(open(path)), reader_(file_) {}

SnapshotResult SnapshotFile::at(std::size_t index, std::uint64_t* elapsed_ns) {
  try {
    const StateSample sample = reader_.at(index);
    if (elapsed_ns != nullptr) *elapsed_ns = sample.ticks;
    SnapshotResult result = snapshot_of(sample, reader_.kernel());
    for (const std::string& damage : reader_.damage()) result.memory.missing.push_back({"damaged", damage, {}});
    return result;
  } catch (Error& error) {
    throw error.at({file_.path, {}, {}});
  }
}

SnapshotResult SnapshotFile::first_intact(bool backwards) {
  std::optional<Error> damage;
  for (std::size_t i = 0; i < size(); ++i) {
    try {
      SnapshotResult result = at(backwards ? size() - 1 - i : i);
      if (damage)
        result.memory.missing.push_back(
            {"damaged",
             fmt::format("{} {} snapshots: {}", backwards ? "the last" : "the first", i, damage->what()),
             {}});
      return result;
    } catch (const Error& error) {
      damage = error;
    }
  }
  throw *damage;
}

SnapshotResult read_snapshot(const std::string& path) {
  if (has_meminfo_copy(path)) return take_stock(parse_snapshot(collect_snapshot_from(path), 0));
  return SnapshotFile(path).last();
}

SnapshotSeries read_series(const std::string& path, double threshold_bytes_per_s) {
  constexpr std::size_t kEnough = 512;
  SnapshotFile file(path);
  InterruptGuard guard;
  SnapshotSeriesAnalysis analysis;
  std::optional<Error> damage;
  std::size_t damaged = file.reader().without_base();
  std::size_t read = 0;
  const std::size_t looked_at = std::min(file.size(), kEnough);
  for (std::size_t i = 0; i < looked_at; ++i) {
    if (guard.interrupted()) throw Error("Interrupted before all snapshots were read");
    try {
      std::uint64_t elapsed_ns = 0;
      const SnapshotResult snapshot =
          file.at(i * (file.size() - 1) / std::max<std::size_t>(looked_at - 1, 1), &elapsed_ns);
      analysis.add(snapshot, elapsed_ns);
      ++read;
    } catch (const Error& error) {
      damage = error;
      ++damaged;
    }
  }
  if (read == 0) throw *damage;
  SnapshotSeries series = analysis.finish(threshold_bytes_per_s);
  series.path = path;
  series.stored = file.size() + file.reader().without_base();
  series.damaged = damaged;
  series.finished = file.reader().finished();
  series.damage = file.reader().damage();
  return series;
}

}  // namespace kmt
