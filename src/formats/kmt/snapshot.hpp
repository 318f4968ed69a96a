// SPDX-License-Identifier: GPL-2.0-or-later
// Reads and writes snapshots of the kernel's memory in a .kmt file, one or a series: docs/formats/kmt.md, "A snapshot".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "formats/kmt/file_writer.hpp"
#include "formats/kmt/sample_series.hpp"
#include "formats/trace_file.hpp"
#include "trace/kernel_description.hpp"
#include "trace/state/sample.hpp"

namespace kmt::kmt_format {

// Writes a series of snapshots, most of them as differences to earlier ones. Added snapshots stay in the file even if
// later writes fail. All methods throw Error.
class SnapshotWriter {
 public:
  // Stores the kernel's names and notes. The file gets its name, and replaces an older file, when publish() or finish()
  // is called.
  SnapshotWriter(const std::string& path, const KernelDescription& kernel);
  void add(const StateSample& sample);
  void publish() { file_.publish(); }  // gives the growing file its name
  void finish();                       // marks the file complete
  std::uint64_t bytes() const { return file_.bytes(); }

 private:
  bool add_delta(const StateSample& sample);
  void add_full(const StateSample& sample);

  FileWriter file_;
  std::uint16_t full_number_ = 0;   // stream number of the last complete sample
  std::size_t full_bytes_ = 0;      // plain size of the last complete sample; 0: there is none yet
  std::size_t full_stored_ = 0;     // its stored size
  std::uint16_t last_number_ = 0;   // number of the last sample in its group
  std::uint64_t deltas_bytes_ = 0;  // size of the samples of all deltas, as readers count it
  SeriesBases bases_;
};

void write_snapshot(const std::string& path, const StateSample& sample, const KernelDescription& kernel);

// Reads the snapshots of a file, or the samples of a trace, one at a time. Borrows the file's bytes.
class SnapshotReader {
 public:
  // Throws Error if the file is not a .kmt or has no snapshots.
  explicit SnapshotReader(const TraceFile& file);
  const KernelDescription& kernel() const { return kernel_; }  // page_size is 0 if unknown
  std::size_t size() const { return entries_.size(); }         // at least 1
  bool finished() const { return finished_; }                  // false if the recorder did not finish
  // Returns the number of differences that are unreadable, because an earlier snapshot is damaged or missing.
  std::size_t without_base() const { return without_base_; }
  const std::vector<std::string>& damage() const { return damage_; }  // damage of the file outside snapshots
  // Returns a snapshot. The snapshots are in order of time. Throws Error if this snapshot is damaged.
  StateSample at(std::size_t index);

 private:
  struct Entry {
    Chunk chunk;
    std::size_t base;  // index into bases_
  };
  void add_damage(std::uint64_t offset, std::string_view what);
  std::shared_ptr<const SeriesMember> member(const Entry& entry);
  void read_facts(const Chunk& chunk, TraceDescription& description);

  std::string path_;
  KernelDescription kernel_;
  std::vector<std::string> damage_;
  bool finished_ = false;
  std::size_t without_base_ = 0;
  std::vector<Entry> entries_;
  std::vector<Chunk> bases_;  // full snapshots
  std::size_t unpacked_ = 0;  // index of the base that base_ contains; bases_.size() if none
  std::vector<std::uint8_t> base_;
  SeriesBases members_;  // of the group of base_
};

}  // namespace kmt::kmt_format
