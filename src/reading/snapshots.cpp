// SPDX-License-Identifier: GPL-2.0-or-later
#include "reading/snapshots.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/snapshot/census_text.hpp"
#include "analysis/snapshot/health.hpp"
#include "analysis/snapshot/page_census.hpp"
#include "analysis/snapshot/series.hpp"
#include "analysis/snapshot/snapshot.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "formats/kmt/file.hpp"
#include "formats/kmt/snapshot.hpp"
#include "reading/standard_input.hpp"
#include "snapshot/archive.hpp"
#include "snapshot/collect.hpp"
#include "snapshot/parse.hpp"

namespace kmt {

namespace {

// Describes the kernel from which the files were copied. The page size is read from the copies.
KernelDescription unknown_kernel() {
  KernelDescription kernel;
  kernel.page_size = 0;
  return kernel;
}

TraceFile open(const std::string& path) {
  auto mapping = std::make_shared<const MappedFile>(path);
  return {path, mapping->bytes(), mapping};
}

// Reads several logs as one, so that reports of the same kernel can be compared, and copies of a report count once.
Copies load_logs(const std::vector<std::string>& paths) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  std::string text;
  for (const std::string& path : paths) {
    const MappedFile file(path);
    if (file.bytes().size() > kMost - std::min(text.size(), kMost))
      throw Error("The logs are larger than 1 GiB").hint("Give only the parts with reports").at({path, {}, {}});
    text.append(as_text(file.bytes())).append("\n");
  }
  const Bytes bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  return copies_in_file(fmt::format("{}", fmt::join(paths, ", ")), bytes);
}

}  // namespace

bool is_snapshot_file(const std::string& path) {
  try {
    std::error_code none;  // checks first whether the file is regular, because a pipe can be read only once
    return std::filesystem::is_regular_file(path, none) &&
           kmt_format::content_of(open(path).bytes) == kmt_format::Content::snapshots;
  } catch (const Error&) {
    return false;
  }
}

bool is_archive_file(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename();
  const bool is_named_so = name.find(".tar") != std::string::npos || name.ends_with(".tgz") || name.ends_with(".txz");
  std::error_code none;
  return is_named_so && std::filesystem::is_regular_file(path, none) && is_archive(MappedFile(path).bytes());
}

bool is_log_file(const std::string& path) {
  try {
    std::error_code none;
    return std::filesystem::is_regular_file(path, none) &&
           (is_archive_file(path) || has_report(MappedFile(path).bytes()));
  } catch (const Error&) {
    return false;
  }
}

bool is_snapshot(const std::string& path) {
  return is_snapshot_file(path) || has_meminfo_copy(path) || is_log_file(path);
}

Copies load_copies(const std::string& path) {
  std::error_code none;
  if (path == "-") return copies_in_file("standard input", standard_input().bytes);
  if (!std::filesystem::is_directory(path, none)) return copies_in_file(path, MappedFile(path).bytes());
  if (!has_meminfo_copy(path)) return copies_in_folder(path);
  // A folder that a support tool wrote also has the kernel's log and uname. Other folders are not searched for these
  // files, because a folder may be as large as "/".
  Copies copies;
  for (const char* const commands : {"/sos_commands", "/insights_commands"})
    if (std::filesystem::is_directory(path + commands, none)) copies = copies_in_folder(path);
  StateSample state = collect_snapshot_from(path);
  if (copies.state && text_of(state, "uname").empty())
    state.texts.emplace_back("uname", text_of(*copies.state, "uname"));
  copies.state = std::move(state);
  copies.files = copied_files(path);
  if (!copies.log.empty()) copies.files.push_back(copies.log);
  return copies;
}

bool is_series(const std::string& path) { return is_log_file(path) || (is_snapshot_file(path) && has_snapshots(path)); }

bool has_snapshots(const std::string& path) {
  try {
    const SnapshotFile file(path);
    return file.size() + (file.reader() != nullptr ? file.reader()->without_base() : 0) > 1;
  } catch (const Error&) {
    return false;
  }
}

namespace {

// Adds the census of page frames that the snapshot has, compared with the counters of the snapshot.
void add_census(std::string_view text, SnapshotResult& result) {
  if (text.empty()) return;
  std::optional<PageCensus> census = census_of(text);
  if (!census) return result.memory.missing.push_back({"census", "the counts of page frames are damaged", ""});
  compare_with_counters(result, *census);
  result.pages = std::make_shared<const PageCensus>(std::move(*census));
  if (!result.health.empty()) result.health = health_of(result);  // one of the checks needs the census
}

}  // namespace

SnapshotResult snapshot_of(const StateSample& sample, const KernelDescription& kernel) {
  KernelMemory memory = parse_snapshot(sample, kernel.page_size);
  if (memory.release.empty()) memory.release = kernel.release;
  if (memory.machine.empty()) memory.machine = kernel.machine;
  if (memory.host.empty()) memory.host = kernel.node_name;
  SnapshotResult result = take_stock(std::move(memory));
  add_census(text_of(sample, "census"), result);
  return result;
}

// Returns notes about the archive and the log. The names of these notes differ from the names of the snapshot's files.
std::vector<MissingSource> notes_of(const Copies& copies) {
  std::vector<MissingSource> notes;
  if (!copies.damage.empty()) notes.push_back({"copies", copies.damage, {}});
  const auto add = [&notes](std::string_view which, std::size_t reports) {
    if (reports > 0) notes.push_back({"log", fmt::format("{}: {}", which, reports), {}});
  };
  if (copies.last_is_unusable)
    notes.push_back({"log", "the last report of the log is cut off, so an earlier one is used", {}});
  add("incomplete reports", copies.unusable_reports);
  add("unused reports, because their lines are mixed and cannot be distinguished", copies.mixed_reports);
  add("unused reports, because the log has too many", copies.dropped_reports);
  add("unused reports of earlier boots", copies.earlier_reports);
  add("unused reports, because each is the same as an earlier one", copies.repeated_reports);
  add("unused reports, because they are about a process that was already killed", copies.reports_of_killed);
  add("unused reports of another machine or kernel", copies.foreign_reports);
  if (!copies.other_logs.empty())
    notes.push_back(
        {"log", fmt::format("other logs have other reports, which are not used: {}", copies.other_logs), {}});
  if (!copies.cgroup.empty())
    notes.push_back(
        {"log",
         fmt::format("its reports show only the memory of the cgroup {}, not of the machine", copies.cgroup),
         {}});
  add("unused reports about cgroups that reached their limits", copies.cgroup_reports);
  return notes;
}

SnapshotResult snapshot_of(Copies&& copies) {
  SnapshotResult result = snapshot_of(copies.state ? *copies.state : copies.reports.back(), unknown_kernel());
  result.files = std::move(copies.files);
  result.log = std::move(copies.log);
  result.log_reports = copies.reports.size();
  for (MissingSource& note : notes_of(copies)) result.memory.missing.push_back(std::move(note));
  return result;
}

SnapshotFile::SnapshotFile(const std::vector<std::string>& paths) : file_(open(paths.front())) {
  const std::string& path = paths.front();
  if (is_log_file(path)) {
    Copies copies = paths.size() == 1 ? load_copies(path) : load_logs(paths);
    notes_ = notes_of(copies);
    reports_ = std::move(copies.reports);
    if (reports_.empty())
      throw Error("The archive has no kernel log with a report of an OOM kill")
          .hint("Name an archive that contains such a log, or the log itself")
          .at({path, {}, {}});
  } else {
    reader_.emplace(file_);
  }
}

SnapshotResult SnapshotFile::at(std::size_t index, std::uint64_t* elapsed_ns) {
  try {
    const StateSample state = sample(index);
    if (elapsed_ns != nullptr) *elapsed_ns = state.ticks;
    SnapshotResult result = snapshot_of(state, reader_ ? reader_->kernel() : unknown_kernel());
    if (reader_)
      for (const std::string& damage : reader_->damage()) result.memory.missing.push_back({"damaged", damage, {}});
    result.memory.missing.insert(result.memory.missing.end(), notes_.begin(), notes_.end());
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
  if (has_meminfo_copy(path) || is_log_file(path)) return snapshot_of(load_copies(path));
  return SnapshotFile(path).last();
}

SnapshotSeries read_series(const std::vector<std::string>& paths, double threshold_bytes_per_s,
                           const std::function<bool()>& interrupted) {
  constexpr std::size_t kEnough = 512;
  SnapshotFile file(paths);
  SnapshotSeriesAnalysis analysis;
  std::optional<Error> damage;
  std::size_t damaged = file.reader() != nullptr ? file.reader()->without_base() : 0;
  std::size_t read = 0;
  const std::size_t looked_at = std::min(file.size(), kEnough);
  for (std::size_t i = 0; i < looked_at; ++i) {
    if (interrupted && interrupted()) throw Error("Interrupted before all snapshots were read");
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
  series.path = fmt::format("{}", fmt::join(paths, ", "));
  series.stored = file.size();
  series.damaged = damaged;
  for (const MissingSource& note : file.notes()) series.notes.push_back(note.why);
  if (file.reader() != nullptr) {
    series.stored += file.reader()->without_base();
    series.finished = file.reader()->finished();
    series.damage = file.reader()->damage();
  }
  return series;
}

}  // namespace kmt
