// SPDX-License-Identifier: GPL-2.0-or-later
// Analyses a trace file for report and similar commands.
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

namespace kmt {

struct AnalyseOptions {
  TraceOptions trace;
  unsigned threads = 0;  // 0: choose the most useful number
  SymbolOptions symbols;
  WrapperOptions wrappers;
  bool names = true;                  // false: print addresses in hexadecimal, for results that show no code
  std::string btf;                    // file with types of calls, for a trace that has none; may be empty
  bool btf_is_checked = false;        // true: `btf` is known to be from the traced kernel
  bool says_lack_of_cgroups = false;  // true: print a note on stderr if grouping by cgroup finds none
  bool call_paths = false;            // true: traced calls serve as stacks of events without a stack
};

// Adds all options except FILE. `options` must outlive the command.
void add_analyse_options(Command& command, AnalyseOptions& options, const std::string& threads_help = kThreadsHelp);

// A trace opened for an analysis, its names, and facts that the analysis needs before the first event.
class OpenedTrace {
 public:
  // Completes the requests with data from the trace: callers of wrappers, and names of tasks. `options` must outlive
  // this object. This object must outlive the objects made with the requests.
  OpenedTrace(const AnalyseOptions& options, std::span<ReportRequest> requests);
  OpenedTrace(const OpenedTrace&) = delete;
  OpenedTrace& operator=(const OpenedTrace&) = delete;
  ~OpenedTrace();

  const TraceInfo& info() const { return source_->info(); }
  const Symbols& symbols() const { return symbols_; }
  const SymbolNames& names() const;  // only hexadecimal addresses if the options want no names
  CallerFinder& callers() { return callers_; }
  Source& source() { return *calls_; }
  // Must be called before the main pass. If a request needs names of caches in advance, reads the trace once and adds
  // the names to `caches`. Returns false after Ctrl+C.
  bool read_ahead(std::span<CacheNames* const> caches);
  bool has_calls() const { return calls_->has_calls(); }  // for the part of the trace that was already read
  // Passes all events to `events` until the trace ends or `wanted` is false, and then ends the stream. Returns false
  // after Ctrl+C.
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
  std::optional<CallPaths> calls_;  // reads from modules_ or source_
  bool for_tasks_ = false;
  bool for_modules_ = false;
  std::unique_ptr<Source> ahead_;  // the same trace, if a second pass is needed
};

// After Ctrl+C, the result covers only a part of the trace, and its `complete` is false.
ReportResult analyse(const AnalyseOptions& options, ReportRequest request);

// A request for the calls in a trace. The selections of the reports do not affect it.
struct CallsQuestion {
  bool wanted = true;        // false: only find out whether the trace has calls
  CallGraphRequest request;  // types are from the trace or from the file in the options
  bool there = false;        // calls exist in the part that was read
  CallGraphResult result;
};

// Computes several reports in one pass. `calls` may request the calls in the same pass.
std::vector<ReportResult> analyse(const AnalyseOptions& options, std::vector<ReportRequest> requests,
                                  CallsQuestion* calls = nullptr);

// True if an event near the start of the trace has a kernel stack. If false, later events may still have stacks; the
// result of the whole trace shows that (TraceSummary::stacks).
bool begins_with_stacks(const AnalyseOptions& options);
// Does the same for calls of kernel functions (OpenedTrace::has_calls).
bool begins_with_calls(const AnalyseOptions& options);

}  // namespace kmt
