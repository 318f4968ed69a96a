// SPDX-License-Identifier: GPL-2.0-or-later
// Analyses a trace for `report` and similar commands.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analysis/calls/graph.hpp"
#include "analysis/calls/paths.hpp"
#include "analysis/matching/module_times.hpp"
#include "analysis/report/event_stream.hpp"
#include "analysis/report/report.hpp"
#include "cli/input/symbol_options.hpp"
#include "cli/input/trace_options.hpp"
#include "results/report/stalls.hpp"

namespace kmt {

struct AnalyseOptions {
  TraceOptions trace;
  unsigned threads = 0;  // number of threads; 0: chosen automatically
  SymbolOptions symbols;
  WrapperOptions wrappers;
  bool names = true;  // false: do not look up symbols, because the result shows no code addresses
  std::string btf;    // path of a file with BTF types, for a trace that has no types of its calls; may be empty
  bool btf_is_checked = false;  // true: the types in `btf` are known to be those of the traced kernel
  // true: print a note on stderr if the report is grouped by cgroup, but the trace has no cgroups
  bool says_lack_of_cgroups = false;
  bool call_paths = false;  // true: the traced calls in progress are used as stacks of events without a stack
};

// Adds all options except FILE. `options` must outlive the command.
void add_analyse_options(Command& command, AnalyseOptions& options, const std::string& threads_help = kThreadsHelp);

// A trace opened for an analysis, with its symbols and other data that an analysis needs before the first event.
class OpenedTrace {
 public:
  // Completes the requests with data from the trace: the callers of wrappers, and the names of tasks. `of_waits` may be
  // null, or the request of an analysis of stalls, which always shows the names of tasks. `options` must outlive this
  // object. This object must outlive all objects made with the requests.
  OpenedTrace(const AnalyseOptions& options, std::span<ReportRequest> requests, ReportRequest* of_waits = nullptr);
  OpenedTrace(const OpenedTrace&) = delete;
  OpenedTrace& operator=(const OpenedTrace&) = delete;
  ~OpenedTrace();

  const TraceInfo& info() const { return source_->info(); }
  const Symbols& symbols() const { return symbols_; }
  const SymbolNames& names() const;  // returns hexadecimal addresses if AnalyseOptions::names is false
  CallerFinder& callers() { return callers_; }
  Source& source() { return *calls_; }
  // Reads the whole trace once if a request needs the names of caches in advance, and adds the names to `caches`. Call
  // it before the main pass. Returns false after Ctrl+C.
  bool read_ahead(std::span<CacheNames* const> caches);
  // True if the part of the trace that was already read has calls.
  bool has_calls() const { return calls_->has_calls(); }
  // Passes the events to `events` until the trace ends or `wanted` is false. Then reports the end of the trace to
  // `events`. Returns false after Ctrl+C.
  bool stream(EventStream& events, const bool& wanted = kAlways);
  // Prints a note on stderr if call paths were requested but the trace has no calls. Call it after reading the trace.
  void say_lack_of_calls() const;

 private:
  static constexpr bool kAlways = true;

  const AnalyseOptions& options_;
  std::unique_ptr<Source> source_;
  WrapperList wrappers_;
  Symbols symbols_;
  CallerFinder callers_;
  std::optional<ModuleTimes> modules_;
  std::optional<CallPaths> calls_;  // keeps a reference to modules_ or source_
  bool for_tasks_ = false;
  bool for_modules_ = false;
  std::unique_ptr<Source> ahead_;  // opens the same trace for a second pass, if one is needed
};

// Returns the report on a trace. After Ctrl+C, the result covers only a part of the trace, and `complete` of the result
// is false.
ReportResult analyse(const AnalyseOptions& options, ReportRequest request);

// A request for the calls in a trace. The filters of reports do not apply to these calls.
struct CallsQuestion {
  bool wanted = true;        // true: compute the call graph; false: only find out whether the trace has calls
  CallGraphRequest request;  // analyse() sets its `signatures` from AnalyseOptions::btf or from the trace
  bool there = false;        // true if the part of the trace that was read has calls
  CallGraphResult result;
};

// A request for the waits of tasks.
struct StallsRequest {
  ReportRequest request;  // the parts that StallsAnalysis uses
  std::size_t longest = 0;
  std::optional<StallsResult> result;  // empty if the trace cannot contain events of stalls
};

// Computes several reports in one pass over the trace. If `calls` or `stalls` is given, the same pass also computes its
// result.
std::vector<ReportResult> analyse(const AnalyseOptions& options, std::vector<ReportRequest> requests,
                                  CallsQuestion* calls = nullptr, StallsRequest* stalls = nullptr);

// True if an event near the start of the trace has a kernel stack. If false, later events may still have stacks. After
// the whole trace was read, TraceSummary::stacks has the answer.
bool begins_with_stacks(const AnalyseOptions& options);
// True if a call of a kernel function is near the start of the trace. If false, calls may appear later
// (OpenedTrace::has_calls).
bool begins_with_calls(const AnalyseOptions& options);

}  // namespace kmt
