// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the ring-buffer data in a version 7 file that has no list of buffers. trace-cmd writes this list at the end, so
// every truncated file lacks it.
#pragma once

#include "formats/tracedat/file.hpp"

namespace kmt::tracedat {

// Searches the sections from `first_section` on for the first one with ring-buffer data. This section has the data of
// all CPUs in order, aligned to pages. Compressed data states its own length. In plain data, a page with an earlier
// time than the previous page starts the next CPU. If no section has ring-buffer data, the result has no CPUs.
BufferData recover_buffer(Bytes file, const FileContents& contents, std::uint64_t first_section);

}  // namespace kmt::tracedat
