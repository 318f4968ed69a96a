// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a perf.data, in file or pipe mode, as a Source.
#pragma once

#include <memory>

#include "formats/trace_file.hpp"
#include "trace/source.hpp"

namespace kmt::perfdata {

// Throws Error if the header is unreadable.
std::unique_ptr<Source> open(const TraceFile& file, const OpenOptions& options);

}  // namespace kmt::perfdata
