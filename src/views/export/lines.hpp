// SPDX-License-Identifier: GPL-2.0-or-later
// Every event a line, as CSV or as JSON: docs/formats/export.md. The text is given away in pieces as it is made.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "results/report/event_stream.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

using TextSink = std::function<void(std::string_view)>;

// RFC 4180 with line feeds, a header first. All that is given must outlive the result, here and below.
std::unique_ptr<EventSink> csv_export(const TraceInfo& info, const SymbolNames& symbols, TextSink sink);
// An object a line; fields that an event does not have are left out.
std::unique_ptr<EventSink> json_lines_export(const TraceInfo& info, const SymbolNames& symbols, TextSink sink);

}  // namespace kmt
