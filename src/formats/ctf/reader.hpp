// SPDX-License-Identifier: GPL-2.0-or-later
// A CTF trace as a Source: LTTng's kernel traces, what convert writes, and others whose events are named as theirs.
// docs/formats/ctf.md says how its events become the kernel's.
#pragma once

#include <memory>

#include "formats/trace_file.hpp"
#include "trace/source.hpp"

namespace kmt::ctf {

// The path names a folder. Throws Error when its trace is beyond reading.
std::unique_ptr<Source> open(const TraceFile& file, const OpenOptions& options);

}  // namespace kmt::ctf
