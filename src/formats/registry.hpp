// SPDX-License-Identifier: GPL-2.0-or-later
// Recognises the format of a trace by its first bytes, never by the file name. A folder is recognised by its files.
#pragma once

#include <memory>
#include <string>

#include "formats/trace_file.hpp"
#include "trace/source.hpp"

namespace kmt {

// Opens a trace. These functions throw Error if the file cannot be opened, is not a trace, or has an unreadable header.
std::unique_ptr<Source> open_trace(const std::string& path, const OpenOptions& options = {});
std::unique_ptr<Source> open_trace(const TraceFile& file, const OpenOptions& options = {});

}  // namespace kmt
