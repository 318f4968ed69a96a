// SPDX-License-Identifier: GPL-2.0-or-later
// Reads snapshots from files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/kmt/snapshot.hpp"
#include "formats/trace_file.hpp"
#include "results/snapshot/series.hpp"
#include "results/snapshot/snapshot.hpp"
#include "snapshot/copies.hpp"
#include "trace/kernel_description.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// True if the file has snapshots and no trace. False if the file cannot be opened or is not regular.
bool is_snapshot_file(const std::string& path);
// True for a tar archive, also a compressed one. Throws Error if it cannot be read.
bool is_archive_file(const std::string& path);
// True for a regular file from which load_copies() reads reports of the kernel's log: a log, or a tar archive.
bool is_log_file(const std::string& path);
// True for a file with snapshots, a log, and a folder with copies of kernel files.
bool is_snapshot(const std::string& path);
// True if the file has several snapshots, either as a series or within a trace. Some of the snapshots may be damaged.
bool has_snapshots(const std::string& path);

// Reads copies from a folder, a file, or standard input for "-". Throws Error.
Copies load_copies(const std::string& path);

// The snapshots in a file, the samples in a trace, or the reports in a log.
class SnapshotFile {
 public:
  explicit SnapshotFile(const std::string& path);                                   // throws Error, as at() does
  std::size_t size() const { return reader_ ? reader_->size() : reports_.size(); }  // 1 or more
  const kmt_format::SnapshotReader* reader() const { return reader_ ? &*reader_ : nullptr; }  // null for a log
  StateSample sample(std::size_t index) { return reader_ ? reader_->at(index) : reports_.at(index); }
  // Sets `elapsed_ns` to the time between the first snapshot and this one.
  SnapshotResult at(std::size_t index, std::uint64_t* elapsed_ns = nullptr);
  // Return the first or the last readable snapshot.
  SnapshotResult first() { return first_intact(false); }
  SnapshotResult last() { return first_intact(true); }

 private:
  SnapshotResult first_intact(bool backwards);

  TraceFile file_;
  std::optional<kmt_format::SnapshotReader> reader_;
  std::vector<StateSample> reports_;
};

// Returns the state of memory in the sample. `kernel` describes the machine of the sample.
SnapshotResult snapshot_of(const StateSample& sample, const KernelDescription& kernel);
// Returns the last intact snapshot of a file, or the snapshot in copies or a log. Throws Error.
// Returns the snapshot in copies, or the last report of their log.
SnapshotResult snapshot_of(Copies&& copies);
SnapshotResult read_snapshot(const std::string& path);
// Reads the snapshots of a file. If there are very many, reads only as many as the analysis of growth needs. Throws
// Error if no snapshot is readable.
SnapshotSeries read_series(const std::string& path, double threshold_bytes_per_s);
}  // namespace kmt
