// SPDX-License-Identifier: GPL-2.0-or-later
// Reads snapshots from files, and analyses them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "formats/kmt/snapshot.hpp"
#include "formats/trace_file.hpp"
#include "results/snapshot/series.hpp"
#include "results/snapshot/snapshot.hpp"
#include "snapshot/copies.hpp"
#include "trace/kernel_description.hpp"
#include "trace/state/kernel_memory.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// True if the file has snapshots and no trace. False if the file cannot be opened or is not regular.
bool is_snapshot_file(const std::string& path);
// True for a tar archive, which may be compressed. Throws Error if the file cannot be read.
bool is_archive_file(const std::string& path);
// True for a regular file from which load_copies() reads reports of the kernel's log. Such a file is a log or a tar
// archive.
bool is_log_file(const std::string& path);
// True for a file with snapshots, for a kernel log, and for a folder with copies of kernel files.
bool is_snapshot(const std::string& path);
// True if the file has several snapshots, either as a series or within a trace. Some of the snapshots may be damaged.
bool has_snapshots(const std::string& path);

// True for a file with a series of snapshots, and for a kernel log.
bool is_series(const std::string& path);

// Reads copies of kernel files from a folder, from a file, or from standard input if the path is "-". Throws Error.
Copies load_copies(const std::string& path);

// The snapshots of a series, the samples of the memory state in a trace, or the reports in a kernel log.
class SnapshotFile {
 public:
  // If there are several files, they must be kernel logs, sorted by time. Throws the same errors as at().
  explicit SnapshotFile(const std::vector<std::string>& paths);
  explicit SnapshotFile(const std::string& path) : SnapshotFile(std::vector{path}) {}
  std::size_t size() const { return reader_ ? reader_->size() : reports_.size(); }  // number of snapshots, at least 1
  // returns null if the file is a log
  const kmt_format::SnapshotReader* reader() const { return reader_ ? &*reader_ : nullptr; }
  StateSample sample(std::size_t index) { return reader_ ? reader_->at(index) : reports_.at(index); }
  // Returns notes about missing data in a log, such as unused reports.
  const std::vector<MissingSource>& notes() const { return notes_; }
  // Returns a snapshot. Sets `elapsed_ns` to the time between the first snapshot and this one.
  SnapshotResult at(std::size_t index, std::uint64_t* elapsed_ns = nullptr);
  // Return the first or the last readable snapshot.
  SnapshotResult first() { return first_intact(false); }
  SnapshotResult last() { return first_intact(true); }

 private:
  SnapshotResult first_intact(bool backwards);

  TraceFile file_;
  std::optional<kmt_format::SnapshotReader> reader_;
  std::vector<StateSample> reports_;
  std::vector<MissingSource> notes_;
};

// Returns the state of memory in the sample. `kernel` describes the machine of the sample.
SnapshotResult snapshot_of(const StateSample& sample, const KernelDescription& kernel);
// Returns notes about missing data in the copies: damage of an archive, and unused reports of a log.
std::vector<MissingSource> notes_of(const Copies& copies);
// Returns the snapshot in the copies. If the copies have no snapshot, returns the last report of their kernel log.
SnapshotResult snapshot_of(Copies&& copies);
// Returns the last undamaged snapshot of a file. For copies of kernel files, returns the snapshot in them. For a kernel
// log, returns the last report. Throws Error.
SnapshotResult read_snapshot(const std::string& path);
// Reads the snapshots of a file, or the reports of several kernel logs. If there are very many, reads only as many as
// the analysis of growth needs. Throws Error if no snapshot is readable, or if `interrupted` returns true; an empty
// function is never called.
SnapshotSeries read_series(const std::vector<std::string>& paths, double threshold_bytes_per_s,
                           const std::function<bool()>& interrupted = {});
}  // namespace kmt
