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

// Writes the difference between snapshots. Added snapshots stay in the file whatever happens next. Every method throws
// Error.
class SnapshotWriter {
 public:
  // Keeps the kernel's names and notes. The file appears, and replaces an older one, with publish() or finish().
  SnapshotWriter(const std::string& path, const KernelDescription& kernel);
  void add(const StateSample& sample);
  void publish() { file_.publish(); }  // shows the file while it grows
  void finish();                       // marks the file complete
  std::uint64_t bytes() const { return file_.bytes(); }

 private:
  FileWriter file_;
  std::vector<std::uint8_t> base_;  // the last full snapshot
  std::size_t base_stored_ = 0;     // its bytes in the file
  std::uint16_t number_ = 0;        // the number of its chunk's stream, which patches name
  std::size_t patches_ = 0;         // since then
};

void write_snapshot(const std::string& path, const StateSample& sample, const KernelDescription& kernel);

// The snapshots of a file, one at a time; in a trace, its samples. Borrows the file's bytes.
class SnapshotReader {
 public:
  // Throws Error if the file is not a .kmt or has no snapshots.
  explicit SnapshotReader(const TraceFile& file);
  const KernelDescription& kernel() const { return kernel_; }  // page size 0: unknown
  std::size_t size() const { return entries_.size(); }         // at least 1
  bool finished() const { return finished_; }                  // false: the recorder did not finish
  std::size_t without_base() const { return without_base_; }   // unreadable because their full snapshot is damaged
  const std::vector<std::string>& damage() const { return damage_; }  // of the file, besides its snapshots
  // By time. Throws Error if it is damaged.
  StateSample at(std::size_t index);

 private:
  struct Entry {
    Chunk chunk;
    std::size_t base;  // of a patch: index into bases_
  };
  void add_damage(std::uint64_t offset, std::string_view what);
  void read_facts(const Chunk& chunk, TraceDescription& description);

  std::string path_;
  KernelDescription kernel_;
  std::vector<std::string> damage_;
  bool finished_ = false;
  std::size_t without_base_ = 0;
  std::vector<Entry> entries_;
  std::vector<Chunk> bases_;  // the full ones
  std::size_t unpacked_ = 0;  // index into bases_; its size: none
  std::vector<std::uint8_t> base_;
};

}  // namespace kmt::kmt_format
