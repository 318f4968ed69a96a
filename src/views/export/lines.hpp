// SPDX-License-Identifier: GPL-2.0-or-later
// Writes one line for each event, as CSV or JSON (docs/formats/export.md). Passes the text on in pieces.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "results/report/event_stream.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

using TextSink = std::function<void(std::string_view)>;

// CSV according to RFC 4180, but with line feeds, and with a header line. The arguments of both functions must outlive
// the result.
std::unique_ptr<EventSink> csv_export(const TraceInfo& info, const SymbolNames& symbols, TextSink sink);
// One JSON object per line, without the fields that the event lacks.
std::unique_ptr<EventSink> json_lines_export(const TraceInfo& info, const SymbolNames& symbols, TextSink sink);

}  // namespace kmt
