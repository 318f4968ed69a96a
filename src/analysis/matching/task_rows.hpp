// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers the tasks and processes of a report. A row stands for a task, a process, a task name or an interrupt, which
// one line of a report shows.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/flat_map.hpp"
#include "results/group.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/tasks/processes.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

class TaskRows {
 public:
  // All keys whose values are rows.
  static constexpr std::array kKeys = {GroupKey::task, GroupKey::process, GroupKey::comm};

  // The references must outlive this object. `tree` and `with_interrupted` are options of Grouping.
  TaskRows(const TraceInfo& info, const TraceTasks& tasks, const SymbolNames& symbols, bool tree, bool with_interrupted)
      : info_(info), trace_tasks_(tasks), symbols_(symbols), tree_(tree), with_interrupted_(with_interrupted) {}

  // Call this function before each batch of events, if the trace's data about tasks does not change during a batch.
  void begin_batch();

  // Returns the row to which an event belongs. `key` is in kKeys.
  std::uint32_t row_of(GroupKey key, const Event& event);
  const TaskName& operator[](std::uint32_t row) const { return names_[row]; }
  // Returns the name of the interrupt for which an event counts. Null if the event counts for the task.
  const char* interrupt_of(const Event& event);

 private:
  // The row of a task, valid for a time in which the trace's data about the task does not change.
  struct Recent {
    std::uint64_t from_ns = 0;
    std::uint64_t until_ns = 0;  // exclusive
    std::int32_t tid = 0;
    std::uint32_t row = 0;
  };
  using RecentRows = std::array<Recent, 64>;  // index: lowest bits of the task ID
  // The last row of a task, and the name for which it was found. The pointers to names can be compared, because names
  // do not move in the tables.
  struct KnownTask {
    const char* comm;
    const TaskLife* life;
    std::uint32_t row;
  };

  bool is_for_task(const Event& in_interrupt);
  std::uint32_t find_row(GroupKey key, const Event& event);
  std::uint32_t task_row(Process task, const Event& event, bool with_id);
  std::uint32_t process_row(const Event& event);
  std::uint64_t unchanged_until_ns(GroupKey key, const Event& event) const;

  const TraceInfo& info_;
  const TraceTasks& trace_tasks_;
  const SymbolNames& symbols_;
  bool tree_;
  bool with_interrupted_;
  std::vector<TaskName> names_;  // index: row
  std::map<std::tuple<std::string, std::int64_t, const TaskLife*>, std::uint32_t> task_rows_;
  std::map<std::pair<std::int32_t, const TaskLife*>, std::uint32_t> process_rows_;
  FlatMap<KnownTask> known_tasks_[2];  // index 0: task names without the task ID; index 1: task names with the task ID
  FlatMap<KnownTask> known_processes_;
  std::array<RecentRows, kKeys.size()> recent_{};  // index: position in kKeys
  bool in_batches_ = false;                        // true: begin_batch() was called
  // Element 0 is indexed by call site, and element 1 by stack. 0: not computed yet, else 1 + is_for_interrupted_task().
  std::vector<std::uint8_t> is_for_task_[2];
};

}  // namespace kmt
