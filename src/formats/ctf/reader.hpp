// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a CTF trace as a Source: LTTng's kernel traces, convert's output, and other traces with the same event names.
// docs/formats/ctf.md describes how CTF events become kernel events.
#pragma once

#include <memory>

#include "formats/trace_file.hpp"
#include "trace/source.hpp"

namespace kmt::ctf {

// Opens the CTF trace in a folder. Throws Error if the path is not a folder or the trace is unreadable.
std::unique_ptr<Source> open(const TraceFile& file, const OpenOptions& options);

}  // namespace kmt::ctf
