// SPDX-License-Identifier: GPL-2.0-or-later
// From a trace's file to a result, as report and its relatives do it.
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
  unsigned threads = 0;  // 0: as many as help
  SymbolOptions symbols;
  WrapperOptions wrappers;
  bool names = true;                  // false: the result shows no code, whose addresses stay hexadecimal
  std::string btf;                    // types of calls, of a trace that holds none; empty: nothing is named
  bool btf_is_checked = false;        // they are known to be the traced kernel's
  bool says_lack_of_cgroups = false;  // on stderr, where the keys ask for them
  bool call_paths = false;            // events without a stack get the traced calls around them as one
};

// All of them but FILE. The options must outlive the command.
void add_analyse_options(Command& command, AnalyseOptions& options);

// A trace that is opened for an analysis, its names, and what has to be known of it before its first event.
class OpenedTrace {
 public:
  // Fills in what of the requests comes from the trace: who calls wrappers, what tasks are called. The options must
  // outlive this, and this what is made of the requests.
  OpenedTrace(const AnalyseOptions& options, std::span<ReportRequest> requests);
  OpenedTrace(const OpenedTrace&) = delete;
  OpenedTrace& operator=(const OpenedTrace&) = delete;
  ~OpenedTrace();

  const TraceInfo& info() const { return source_->info(); }
  const Symbols& symbols() const { return symbols_; }
  const SymbolNames& names() const;  // the symbols', where the options want names
  CallerFinder& callers() { return callers_; }
  Source& source() { return *calls_; }
  // Reads the trace once before, where a request needs that, and fills the names of caches of those that do. To be
  // called in any case. False at Ctrl+C.
  bool read_ahead(std::span<CacheNames* const> caches);
  bool has_calls() const { return calls_->has_calls(); }  // in what was read
  // Gives the stream all events, until the trace is at its end or `wanted` is false, and ends it. False at Ctrl+C.
  bool stream(EventStream& events, const bool& wanted = kAlways);
  // Says on stderr that call paths were asked for, and the trace, which was read, holds no calls.
  void say_lack_of_calls() const;

 private:
  static constexpr bool kAlways = true;

  const AnalyseOptions& options_;
  std::unique_ptr<Source> source_;
  WrapperList wrappers_;
  Symbols symbols_;
  CallerFinder callers_;
  std::optional<ModuleTimes> modules_;
  std::optional<CallPaths> calls_;  // what reads the trace, through the one before
  bool for_tasks_ = false;
  bool for_modules_ = false;
  std::unique_ptr<Source> ahead_;  // the same trace, where it is read twice
};

// The result is that of a part, and says so in its trace's `complete`, when Ctrl+C ended the reading.
ReportResult analyse(const AnalyseOptions& options, ReportRequest request);

// What a reading is asked of a trace's calls, whatever the requests of the reports select.
struct CallsQuestion {
  bool wanted = true;        // false: only whether there are any
  CallGraphRequest request;  // types are those of the trace, or of the options' file
  bool there = false;        // in what was read
  CallGraphResult result;
};

// The same for several questions, which are answered in one reading. `calls`: one more of them.
std::vector<ReportResult> analyse(const AnalyseOptions& options, std::vector<ReportRequest> requests,
                                  CallsQuestion* calls = nullptr);

// Whether an event near the begin of the trace has a stack of the kernel. Where none has, later ones may: what was made
// of the whole trace tells (TraceSummary::stacks).
bool begins_with_stacks(const AnalyseOptions& options);
// The same of calls of kernel functions (OpenedTrace::has_calls).
bool begins_with_calls(const AnalyseOptions& options);

}  // namespace kmt
