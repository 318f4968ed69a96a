// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a CTF trace as a Source: LTTng's kernel traces, convert's output, and other traces with the same event names.
// docs/formats/ctf.md describes how CTF events become kernel events.
#pragma once

#include <memory>

#include "formats/trace_file.hpp"
#include "trace/source.hpp"

namespace kmt::ctf {

// The path must be a folder. Throws Error if its trace is unreadable.
std::unique_ptr<Source> open(const TraceFile& file, const OpenOptions& options);

}  // namespace kmt::ctf
