// SPDX-License-Identifier: GPL-2.0-or-later
// Snapshots of the kernel's memory in a .kmt file, one or a series: docs/formats/kmt.md, "A snapshot".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "formats/kmt/file_writer.hpp"
#include "formats/trace_file.hpp"
#include "trace/kernel_description.hpp"
#include "trace/state/sample.hpp"

namespace kmt::kmt_format {

// Writes what differs from one snapshot to the next. What was added is in the file whatever happens next. Every method
// throws Error.
class SnapshotWriter {
 public:
  // Makes the file, or empties it. Of the kernel its names and notes are kept.
  SnapshotWriter(const std::string& path, const KernelDescription& kernel);
  void add(const StateSample& sample);
  void finish();  // the file says that it is complete
  std::uint64_t bytes() const { return file_.bytes(); }

 private:
  FileWriter file_;
  std::vector<std::uint8_t> base_;  // the last one that was written whole
  std::size_t base_stored_ = 0;     // its bytes in the file
  std::uint16_t number_ = 0;        // its chunk's stream: patches name it
  std::size_t patches_ = 0;         // since then
};

// One alone.
void write_snapshot(const std::string& path, const StateSample& sample, const KernelDescription& kernel);

// Whether a file has snapshots and nothing of a trace. Reads only as far as it has to.
bool holds_snapshots_only(Bytes file);

// The snapshots of a file, one at a time. Those of a trace are its samples. Borrows the file's bytes.
class SnapshotReader {
 public:
  // Throws Error where the file is no .kmt, has none, or what describes it is damaged.
  explicit SnapshotReader(const TraceFile& file);
  const KernelDescription& kernel() const { return kernel_; }
  std::size_t size() const { return entries_.size(); }        // at least 1
  bool finished() const { return finished_; }                 // false: the recorder did not come to its end
  std::size_t without_base() const { return without_base_; }  // that cannot be read: what they build on is damaged
  // By time. Throws Error where it is damaged.
  StateSample at(std::size_t index);

 private:
  struct Entry {
    Chunk chunk;
    std::size_t base;  // of a patch, its place in bases_
  };
  std::string path_;
  KernelDescription kernel_;
  bool finished_ = false;
  std::size_t without_base_ = 0;
  std::vector<Entry> entries_;
  std::vector<Chunk> bases_;  // the whole ones
  std::size_t unpacked_ = 0;  // of bases_, behind its end: none
  std::vector<std::uint8_t> base_;
};

}  // namespace kmt::kmt_format
