// SPDX-License-Identifier: GPL-2.0-or-later
// From a trace's file to a result, as report and its relatives do it.
#pragma once

#include "analysis/report.hpp"
#include "cli/symbol_options.hpp"
#include "cli/trace_options.hpp"

namespace kmt {

struct AnalyseOptions {
  TraceOptions trace;
  unsigned threads = 0;  // 0: as many as help
  SymbolOptions symbols;
  WrapperOptions wrappers;
};

// All of them but FILE. The options must outlive the command.
void add_analyse_options(CLI::App& command, AnalyseOptions& options);

// The result is that of a part, and says so in its trace's `complete`, when Ctrl+C ended the reading.
ReportResult analyse(const AnalyseOptions& options, ReportRequest request);

// Whether an event near the begin of the trace has a stack of the kernel.
bool has_stacks(const AnalyseOptions& options);

}  // namespace kmt
