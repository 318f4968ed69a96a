// SPDX-License-Identifier: GPL-2.0-or-later
// Writes trace.dat, version 6 or 7, uncompressed. The formats are described in trace-cmd.dat.v6(5) and
// trace-cmd.dat.v7(5).
#pragma once

#include <cstdint>
#include <string>

#include "base/new_file.hpp"
#include "trace/raw_recording.hpp"

namespace kmt::tracedat {

// Returns the bytes of the large parts of a trace.dat, except for ring-buffer pages. The rest has less than a MiB.
std::uint64_t metadata_bytes(const KernelDescription& kernel);

// Copies pages inside the kernel and frees them in their source files, so that the disk never has to store the
// recording twice. The complete file replaces an older one with the same name. Throws Error.
void write(const std::string& path, unsigned version, RawRecording& recording, Replaced replaced = Replaced::removed);

}  // namespace kmt::tracedat
