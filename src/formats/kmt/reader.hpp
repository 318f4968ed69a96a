// SPDX-License-Identifier: GPL-2.0-or-later
// A .kmt file as a Source.
#pragma once

#include <memory>

#include "formats/trace_file.hpp"
#include "trace/source.hpp"

namespace kmt::kmt_format {

// Throws Error when the header is beyond reading or the wanted buffer is not there.
std::unique_ptr<Source> open(const TraceFile& file, const OpenOptions& options);

}  // namespace kmt::kmt_format
