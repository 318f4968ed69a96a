// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the ring-buffer data of a version 7 file without a list of buffers, which every truncated file lacks because it
// is written last.
#pragma once

#include "formats/tracedat/file.hpp"

namespace kmt::tracedat {

// Walks the sections from `first_section` to the first with ring-buffer data. CPUs follow in order, aligned to a page.
// Compressed data has its length; in plain data, a page earlier than the one before starts the next CPU. The result has
// no CPUs if there is no such section.
BufferData recover_buffer(Bytes file, const FileContents& contents, std::uint64_t first_section);

}  // namespace kmt::tracedat
