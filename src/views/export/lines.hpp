// SPDX-License-Identifier: GPL-2.0-or-later
// A line for each event, as CSV or JSON: docs/formats/export.md. The text is passed on in pieces.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "results/report/event_stream.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

using TextSink = std::function<void(std::string_view)>;

// RFC 4180 with line feeds, and a header first. The arguments must outlive the result, here and below.
std::unique_ptr<EventSink> csv_export(const TraceInfo& info, const SymbolNames& symbols, TextSink sink);
// An object for each line, without the fields an event does not have.
std::unique_ptr<EventSink> json_lines_export(const TraceInfo& info, const SymbolNames& symbols, TextSink sink);

}  // namespace kmt
