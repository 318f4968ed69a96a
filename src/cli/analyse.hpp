// SPDX-License-Identifier: GPL-2.0-or-later
// From a trace's file to a result, as report and its relatives do it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "analysis/report.hpp"
#include "cli/symbol_options.hpp"

namespace kmt {

struct AnalyseOptions {
  std::string file;  // empty: default_trace()
  std::optional<std::string> buffer;
  unsigned threads = 0;  // 0: as many as help
  bool progress = true;
  SymbolOptions symbols;
  WrapperOptions wrappers;
  std::function<void(const EventBatch&, const TraceInfo&)> observe = {};  // sees each batch before it is analysed
};

// The result is that of a part, and says so in its trace's `complete`, when Ctrl+C ended the reading.
ReportResult analyse(const AnalyseOptions& options, ReportRequest request);

// Whether an event near the begin of the trace has a stack of the kernel.
bool has_stacks(const AnalyseOptions& options);

}  // namespace kmt
