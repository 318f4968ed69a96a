// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the records of a perf.data in order of time, for the reader and the converter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "formats/perfdata/record_parser.hpp"
#include "formats/perfdata/rounds.hpp"
#include "formats/perfdata/tasks.hpp"
#include "trace/trace_info.hpp"

namespace kmt::perfdata {

template <typename Item>
class OrderedRecords {
 public:
  // The file's bytes, the contents and `info` must outlive this object. `info` receives findings. A task's name is
  // added to `info` before items of the same time become due.
  OrderedRecords(Bytes file, const FileContents& contents, TraceInfo& info)
      : parser_(file, contents, info.findings), info_(info), objects_(info), most_held_(most_held(file.size())) {}

  // Reads the next record. Call this only if no item is due. For a sample or a loss, the caller may append an item and
  // hold() it. At the end of the file all items become due.
  RecordParser::Kind next();
  const RecordParser& parser() const { return parser_; }

  // Returns the held items. Append an item to this vector, then call hold() for the item.
  std::vector<Item>& items() { return items_.items(); }
  void hold(std::uint64_t time_ns, std::uint16_t cpu) {
    items_.hold(time_ns, cpu);
    bound_memory();
  }
  // See HeldByTime::next_due().
  Item* next_due() { return items_.next_due(); }

 private:
  void note_late(const Sample& sample) {
    if (sample.time_ns != 0 && sample.time_ns < released_ns_) report_late(sample);
  }
  void report_late(const Sample& sample);
  void take_task();
  void bound_memory() {
    if (items_.size() + tasks_.size() >= most_held_) release_half();
  }
  void release_half();
  void release(std::uint64_t due_ns);

  RecordParser parser_;
  TraceInfo& info_;
  MappedObjects objects_;
  std::uint64_t most_held_;
  HeldByTime<Item> items_;
  HeldByTime<TaskChange> tasks_;
  std::uint64_t released_ns_ = 0;  // all items up to this time were made due
};

template <typename Item>
RecordParser::Kind OrderedRecords<Item>::next() {
  const RecordParser::Kind kind = parser_.next();
  switch (kind) {
    case RecordParser::Kind::sample: note_late(parser_.sample()); break;
    case RecordParser::Kind::loss: break;
    case RecordParser::Kind::task: take_task(); break;
    case RecordParser::Kind::round_end: release(parser_.end_round()); break;
    case RecordParser::Kind::end: release(RoundLimit::kAll); break;
  }
  return kind;
}

template <typename Item>
void OrderedRecords<Item>::report_late(const Sample& sample) {
  std::string detail;
  if (info_.findings.wants(Imperfection::late_event)) detail = fmt::format("by {} ns", released_ns_ - sample.time_ns);
  info_.findings.add({Imperfection::late_event, std::move(detail), sample.cpu, parser_.offset(), sample.time_ns});
}

template <typename Item>
void OrderedRecords<Item>::take_task() {
  TaskChange& change = parser_.task();
  if (change.mapping) {
    change.mapping->change.object = objects_.number_of(*change.mapping);
    change.mapping->change.time_ns = change.time_ns;
  }
  if (change.time_ns == 0) return learn(change, info_);
  const std::uint64_t time_ns = change.time_ns;
  tasks_.items().push_back(std::move(change));
  tasks_.hold(time_ns, 0);
  bound_memory();
}

template <typename Item>
void OrderedRecords<Item>::release_half() {
  release(items_.size() >= tasks_.size() ? items_.middle_ns() : tasks_.middle_ns());
}

template <typename Item>
void OrderedRecords<Item>::release(std::uint64_t due_ns) {
  released_ns_ = std::max(released_ns_, due_ns);
  tasks_.release(due_ns);
  while (const TaskChange* const change = tasks_.next_due()) learn(*change, info_);
  items_.release(due_ns);
}

}  // namespace kmt::perfdata
