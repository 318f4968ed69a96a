// SPDX-License-Identifier: GPL-2.0-or-later
// All events of a trace, and all allocations with their ends, as an SQLite database with a view for each report:
// docs/formats/export.md has the schema.
#pragma once

#include <memory>
#include <string>

#include "results/report/event_stream.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Writes to the file, which is not there or empty. It is complete after end(); what goes wrong with it throws Error,
// here and when events are added. All that is given must outlive the result.
std::unique_ptr<EventSink> sqlite_export(const TraceInfo& info, const SymbolNames& symbols, const std::string& path);

}  // namespace kmt
