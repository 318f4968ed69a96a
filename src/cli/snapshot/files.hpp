// SPDX-License-Identifier: GPL-2.0-or-later
// Snapshots as files.
#pragma once

#include <string>

#include "formats/kmt/snapshot.hpp"
#include "formats/trace_file.hpp"
#include "results/snapshot/series.hpp"
#include "results/snapshot/snapshot.hpp"
#include "trace/kernel_description.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// True for a snapshot without a trace. False for files that cannot be opened or are not regular.
bool is_snapshot_file(const std::string& path);
// True for a snapshot, or a folder with copies of the kernel's files.
bool is_snapshot(const std::string& path);
// True if there are several, in a series or a trace. Some may be damaged.
bool has_snapshots(const std::string& path);

// The snapshots of a file, or the samples of a trace.
class SnapshotFile {
 public:
  explicit SnapshotFile(const std::string& path);      // throws Error, as at() does
  std::size_t size() const { return reader_.size(); }  // at least 1
  const kmt_format::SnapshotReader& reader() const { return reader_; }
  StateSample sample(std::size_t index) { return reader_.at(index); }
  // `elapsed_ns`: the snapshot's time since the first one.
  SnapshotResult at(std::size_t index, std::uint64_t* elapsed_ns = nullptr);
  // The first and the last one that can be read.
  SnapshotResult first() { return first_intact(false); }
  SnapshotResult last() { return first_intact(true); }

 private:
  SnapshotResult first_intact(bool backwards);

  TraceFile file_;
  kmt_format::SnapshotReader reader_;
};

// The memory state of that machine.
SnapshotResult snapshot_of(const StateSample& sample, const KernelDescription& kernel);
// The last intact one of a file, or what a folder has copies of. Throws Error.
SnapshotResult read_snapshot(const std::string& path);
// All snapshots, or as many as show the growth. Throws Error if none is readable.
SnapshotSeries read_series(const std::string& path, double threshold_bytes_per_s);
}  // namespace kmt
