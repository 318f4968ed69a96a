// SPDX-License-Identifier: GPL-2.0-or-later
// Writes trace.dat, version 6 or 7, uncompressed: trace-cmd.dat.v6(5), trace-cmd.dat.v7(5).
#pragma once

#include <cstdint>
#include <string>

#include "trace/raw_recording.hpp"

namespace kmt::tracedat {

// The bytes of everything but the pages: what an empty recording would take.
std::uint64_t metadata_bytes(const KernelDescription& kernel);

// Pages are copied inside the kernel and released from their source files as they go, so that the recording is never on
// the disk twice. The file appears under its name when it is complete, replacing an older one. Throws Error.
void write(const std::string& path, unsigned version, RawRecording& recording);

}  // namespace kmt::tracedat
