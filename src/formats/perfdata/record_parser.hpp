// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the records of a perf.data in file order: samples with their fields, losses, tasks, and ends of rounds.
// Ignores all other records.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/perfdata/file.hpp"
#include "formats/perfdata/record_cursor.hpp"
#include "formats/perfdata/rounds.hpp"
#include "formats/perfdata/sample.hpp"
#include "formats/perfdata/tasks.hpp"

namespace kmt::perfdata {

// A loss of events on one CPU, as counted by the kernel or perf.
struct Loss {
  std::optional<std::uint64_t> count;  // empty if unknown
  std::uint64_t time_ns = 0;           // 0: a total at the end, which includes the other losses
  std::uint16_t cpu = 0;
  std::uint64_t offset = 0;  // offset in the file, in bytes
};

class RecordParser {
 public:
  enum class Kind : std::uint8_t { sample, loss, task, round_end, end };

  // The contents and the file's bytes must outlive this object. Damage becomes findings.
  RecordParser(Bytes file, const FileContents& contents, Findings& findings);

  // Reads the next item and returns its kind. The functions below return the item.
  Kind next();
  const Sample& sample() const { return sample_; }        // `cpu` is always set
  std::uint32_t attribute() const { return attribute_; }  // the sample's event: index into Attributes::all()
  const Loss& loss() const { return loss_; }
  TaskChange& task() { return task_; }
  std::uint64_t offset() const { return record_.offset; }  // offset in the file
  std::uint64_t position() const { return cursor_.position(); }

  // Ends a round (rounds.hpp). Returns the time up to which records are now due.
  std::uint64_t end_round() { return limit_.end_round(); }

 private:
  std::optional<Kind> take_kernel_record();
  bool take_sample();
  void note_time(std::uint64_t time_ns);
  void take_loss(const Trailer& trailer);
  Trailer trailer() const;
  bool find_attribute();
  std::uint16_t checked_cpu(std::optional<std::uint32_t> cpu);
  void damaged(const char* what);

  const FileContents& contents_;
  Findings& findings_;
  RecordCursor cursor_;
  RoundLimit limit_;
  bool has_times_ = false;             // true after the first record with a time
  std::vector<SampleLayout> layouts_;  // indexed by attribute
  Record record_;
  Sample sample_;
  std::uint32_t attribute_ = 0;
  struct KnownId {
    std::uint64_t id = 0;
    std::optional<std::uint32_t> attribute;
  };
  // A cache. The index is the last bits of the ID, because the kernel numbers events consecutively.
  std::array<KnownId, 64> known_ids_;
  Loss loss_;
  TaskChange task_;
};

}  // namespace kmt::perfdata
