// SPDX-License-Identifier: GPL-2.0-or-later
// From a trace's file to a result, for report and similar commands.
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
  unsigned threads = 0;  // 0: as many as are useful
  SymbolOptions symbols;
  WrapperOptions wrappers;
  bool names = true;                  // false: the result shows no code; addresses stay hexadecimal
  std::string btf;                    // types of calls, for a trace without any; empty: none
  bool btf_is_checked = false;        // they are known to be the traced kernel's
  bool says_lack_of_cgroups = false;  // on stderr, if the keys need them
  bool call_paths = false;            // events without a stack get the traced calls around them as one
};

// All options except FILE. They must outlive the command.
void add_analyse_options(Command& command, AnalyseOptions& options);

// A trace opened for an analysis, its names, and facts needed before its first event.
class OpenedTrace {
 public:
  // Completes the requests from the trace: callers of wrappers, names of tasks. The options must outlive this object,
  // which must outlive objects made with the requests.
  OpenedTrace(const AnalyseOptions& options, std::span<ReportRequest> requests);
  OpenedTrace(const OpenedTrace&) = delete;
  OpenedTrace& operator=(const OpenedTrace&) = delete;
  ~OpenedTrace();

  const TraceInfo& info() const { return source_->info(); }
  const Symbols& symbols() const { return symbols_; }
  const SymbolNames& names() const;  // the symbols', if the options want names
  CallerFinder& callers() { return callers_; }
  Source& source() { return *calls_; }
  // Reads the trace once in advance if a request needs that, and fills those requests' names of caches. It must be
  // called. False after Ctrl+C.
  bool read_ahead(std::span<CacheNames* const> caches);
  bool has_calls() const { return calls_->has_calls(); }  // in the part already read
  // Passes all events to the stream, until the trace's end or `wanted` is false, and ends the stream. False after
  // Ctrl+C.
  bool stream(EventStream& events, const bool& wanted = kAlways);
  // Notes on stderr that call paths were requested, but the trace, now read, has no calls.
  void say_lack_of_calls() const;

 private:
  static constexpr bool kAlways = true;

  const AnalyseOptions& options_;
  std::unique_ptr<Source> source_;
  WrapperList wrappers_;
  Symbols symbols_;
  CallerFinder callers_;
  std::optional<ModuleTimes> modules_;
  std::optional<CallPaths> calls_;  // reads the trace, through the one before
  bool for_tasks_ = false;
  bool for_modules_ = false;
  std::unique_ptr<Source> ahead_;  // the same trace, if it is read twice
};

// After Ctrl+C the result covers a part of the trace and has `complete` false.
ReportResult analyse(const AnalyseOptions& options, ReportRequest request);

// A request for a trace's calls, independent of the reports' selections.
struct CallsQuestion {
  bool wanted = true;        // false: only whether there are any
  CallGraphRequest request;  // types are the trace's, or those of the options' file
  bool there = false;        // in the part already read
  CallGraphResult result;
};

// The same for several requests in one reading. `calls`: another one of them.
std::vector<ReportResult> analyse(const AnalyseOptions& options, std::vector<ReportRequest> requests,
                                  CallsQuestion* calls = nullptr);

// True if an event near the trace's start has a kernel stack. Otherwise later ones may have one: a result of the whole
// trace shows it (TraceSummary::stacks).
bool begins_with_stacks(const AnalyseOptions& options);
// The same for calls of kernel functions (OpenedTrace::has_calls).
bool begins_with_calls(const AnalyseOptions& options);

}  // namespace kmt
