// SPDX-License-Identifier: GPL-2.0-or-later
// Calls of kernel functions, from ftrace's function graph events, and what was allocated inside them.
//
// Calls are followed task by task, never CPU by CPU, so that neither preemption nor migration can give one to another;
// a CPU's idle task is a task of its own. An end belongs to the innermost call only if function and depth are the same;
// calls above it, or at the depth of a new call, have ended unseen. After lost events, an end does not belong to a call
// from before the loss if the kernel measured that its call started later.
//
// Calls by interrupts (common_flags; irq_enter() and the like, which run just before the flags are set, by their names)
// are on top of the interrupted call, not inside it: their time and allocations do not count for that call.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/calls/condition.hpp"
#include "results/calls/graph.hpp"
#include "results/report/event_stream.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

struct CallGraphRequest {
  std::vector<std::string> functions;          // globs; calls of these, and all inside them; empty: all
  std::set<std::int32_t> pids;                 // thread ids; empty: all, and interrupts
  std::optional<unsigned> depth;               // levels that are shown; empty: all
  std::vector<CallCondition> where;            // all have to hold for a call; calls inside it are shown too
  std::uint64_t least_ns = 0;                  // calls that took less are not shown
  bool errors_only = false;                    // calls that did not return an error are not shown
  bool arguments = false;                      // are wanted
  const CallSignatures* signatures = nullptr;  // borrowed; nullptr: calls are not typed
  std::size_t limit = 0;                       // calls that are shown, the first ones; 0: all
  std::size_t slowest = 0;                     // calls that are shown besides, those that took longest
};

class CallGraph : public EventSink {
 public:
  // Give it all events of a trace. The arguments must outlive this.
  CallGraph(const TraceInfo& info, const SymbolNames& symbols, CallGraphRequest request);
  ~CallGraph() override;

  void add(const StreamedEvent& event) override;
  // Throws Error where a condition is of an argument that no function has.
  void end(const StreamEnd& end) override;
  CallGraphResult take();  // once, after end()

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
