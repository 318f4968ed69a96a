// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a trace.dat, version 6 or 7, as a Source.
#pragma once

#include <memory>
#include <string>

#include "formats/trace_file.hpp"
#include "trace/source.hpp"

namespace kmt::tracedat {

// Opens a trace.dat. Throws Error if the header is unreadable or the requested buffer is missing.
std::unique_ptr<Source> open(const TraceFile& file, const OpenOptions& options);

}  // namespace kmt::tracedat
