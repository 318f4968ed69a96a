// SPDX-License-Identifier: GPL-2.0-or-later
// Completes lines of the function_graph tracer. Adds what a line lacks: the task of the CPU, the name of the function
// that ends, the interrupt context, and a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/text/call_line.hpp"

namespace kmt::text {

struct NamedTask {
  std::int32_t tid = -1;
  std::string comm;
};
// The task of each CPU before its first task switch.
using FirstTasks = std::map<unsigned, NamedTask>;

class CallTracker {
 public:
  // `first` has the tasks that an earlier CallTracker has found; null in the first pass. `first` must outlive this
  // object.
  explicit CallTracker(const FirstTasks* first) : known_first_(first) {}

  void add(const InterruptLine& line);
  void add(const SwitchLine& line);
  // Completes a line of a call. If the line has no time, `number` becomes its time. Names in `call` are valid until the
  // next call of this function.
  void complete(CallLine& call, std::uint64_t number);

  const FirstTasks& first_tasks() const { return first_; }

 private:
  struct Cpu {
    bool in_interrupt = false;
    std::optional<NamedTask> task;
    std::uint64_t last_ns = 0;  // time at which the CPU's latest call ended
  };
  struct OpenCall {
    unsigned depth = 0;
    std::string function;
  };

  void set_time(CallLine& call, Cpu& cpu, std::uint64_t number);

  const FirstTasks* known_first_;
  FirstTasks first_;
  std::map<unsigned, Cpu> cpus_;
  std::set<std::int32_t> interrupted_;  // IDs of interrupted tasks, in a text without CPUs
  std::string ended_;                   // name of the function of the latest call that ended
  // The open calls of each task, outermost first. The key is the task's ID, and also the CPU if the ID is unknown.
  std::map<std::pair<std::int32_t, unsigned>, std::vector<OpenCall>> open_;
};

}  // namespace kmt::text
