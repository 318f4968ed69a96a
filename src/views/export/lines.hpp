// SPDX-License-Identifier: GPL-2.0-or-later
// Writes one line for each event, as CSV or JSON (docs/formats/export.md). The text is passed to a sink in pieces.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "results/report/event_stream.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

using TextSink = std::function<void(std::string_view)>;

// Writes CSV as in RFC 4180, with a header line, but with line feeds instead of CRLF. The arguments of both functions
// must outlive the result.
std::unique_ptr<EventSink> csv_export(const TraceInfo& info, const SymbolNames& symbols, TextSink sink);
// Writes one JSON object per line. A field that the event does not have is left out.
std::unique_ptr<EventSink> json_lines_export(const TraceInfo& info, const SymbolNames& symbols, TextSink sink);

}  // namespace kmt
