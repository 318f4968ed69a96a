// SPDX-License-Identifier: GPL-2.0-or-later
// Exports all events and allocations of a trace as an SQLite database, with one view for each report.
// docs/formats/export.md describes the schema.
#pragma once

#include <memory>
#include <string>

#include "results/report/event_stream.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Returns a sink that writes events to a database. The file must be missing or empty. end() completes the file. Adding
// events and end() throw Error if writing fails. The arguments must outlive the result.
std::unique_ptr<EventSink> sqlite_export(const TraceInfo& info, const SymbolNames& symbols, const std::string& path);

}  // namespace kmt
