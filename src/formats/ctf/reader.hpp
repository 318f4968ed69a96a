// SPDX-License-Identifier: GPL-2.0-or-later
// A CTF trace as a Source: LTTng's kernel traces, convert's output, and others with the same event names.
// docs/formats/ctf.md describes how its events become the kernel's.
#pragma once

#include <memory>

#include "formats/trace_file.hpp"
#include "trace/source.hpp"

namespace kmt::ctf {

// The path names a folder. Throws Error if its trace is unreadable.
std::unique_ptr<Source> open(const TraceFile& file, const OpenOptions& options);

}  // namespace kmt::ctf
