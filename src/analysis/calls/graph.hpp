// SPDX-License-Identifier: GPL-2.0-or-later
// Builds a graph of kernel function calls from ftrace's function graph events, with the memory allocated in each call.
//
// Calls are followed per task, not per CPU, so preemption and migration cannot assign a call to the wrong task. The
// idle task of each CPU counts as a separate task. An end event matches the innermost open call only if function and
// depth are equal. If an end event or a new call has the depth of an older open call, all deeper calls have ended
// without an end event. After lost events, the duration measured by the kernel is checked too: an end event does not
// match an open call that has been open for longer than this duration.
//
// Calls made by interrupts do not count as callees of the interrupted call: their time and allocations are not added to
// that call. Interrupts are recognised by common_flags. Functions that run just before the flags are set, such as
// irq_enter(), are recognised by name.
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
  // Globs on function names; selects matching calls and all calls inside them; empty: all.
  std::vector<std::string> functions;
  std::set<std::int32_t> pids;       // thread IDs; empty: all threads and interrupts
  std::optional<unsigned> depth;     // number of levels to show; empty: all
  std::vector<CallCondition> where;  // a call is shown if it meets all conditions; the calls inside it are shown too
  std::uint64_t least_ns = 0;        // calls shorter than this are not shown
  bool errors_only = false;          // true: show only calls that returned an error
  bool arguments = false;            // true: include arguments in the result
  const CallSignatures* signatures = nullptr;  // must outlive the graph; nullptr: values have no types
  std::size_t limit = 0;                       // maximum number of calls to show, in order of start; 0: all
  std::size_t slowest = 0;                     // number of longest calls to show in addition to `limit`
};

class CallGraph : public EventSink {
 public:
  // Feed all events of a trace to this object. The arguments of the constructor must outlive this object.
  CallGraph(const TraceInfo& info, const SymbolNames& symbols, CallGraphRequest request);
  ~CallGraph() override;

  void add(const StreamedEvent& event) override;
  // Ends all open calls and completes the result. Throws Error if a condition names an argument that no recorded
  // function has.
  void end(const StreamEnd& end) override;
  CallGraphResult take();  // call once, after end()

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
