// SPDX-License-Identifier: GPL-2.0-or-later
// trace.dat, versions 6 and 7, as a Source.
#pragma once

#include <memory>
#include <string>

#include "formats/trace_file.hpp"
#include "trace/source.hpp"

namespace kmt::tracedat {

// Throws Error when the header is beyond reading or the wanted buffer is not there.
std::unique_ptr<Source> open(const TraceFile& file, const OpenOptions& options);

}  // namespace kmt::tracedat
