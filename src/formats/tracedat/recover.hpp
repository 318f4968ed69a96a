// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the ring-buffer data of a version 7 file whose list of buffers is missing: it is written last, so every
// truncated file lacks it.
#pragma once

#include "formats/tracedat/file.hpp"

namespace kmt::tracedat {

// Walks the sections from `first_section` on to the first that holds ring-buffer data. CPUs follow each other there,
// each aligned to a page: compressed data tells its own length; in plain data a page that is earlier than the one
// before it begins the next CPU. Without such a section the result has no CPUs.
BufferData recover_buffer(Bytes file, const FileContents& contents, std::uint64_t first_section);

}  // namespace kmt::tracedat
