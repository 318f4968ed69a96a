// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the kernel descriptions at the start of a trace.dat. Version 7 has the descriptions in sections, and version 6
// has them one after the other. A perf.data has all of them as "tracing data". trace-cmd.dat.v6(5) describes the
// layout.
#pragma once

#include "base/byte_reader.hpp"
#include "trace/imperfections.hpp"
#include "trace/kernel_description.hpp"

namespace kmt::tracedat {

// Each function reads one description at the reader's position. Throws Error if bytes are missing.
void read_header_info(ByteReader& in, KernelDescription& kernel);
void read_ftrace_formats(ByteReader& in, KernelDescription& kernel);
void read_event_formats(ByteReader& in, KernelDescription& kernel);
void read_kallsyms(ByteReader& in, KernelDescription& kernel);
void read_printk(ByteReader& in, KernelDescription& kernel);
void read_btf(ByteReader& in, KernelDescription& kernel);
void read_cmdlines(ByteReader& in, KernelDescription& kernel);

// Reads a header like that of a trace.dat (versions 0.5 and 0.6), followed by these descriptions
// (util/trace-event-info.c of perf, Linux 6.1). Keeps the data before any damage; the damage becomes a finding.
// `offset` is the position of the bytes in their file.
void read_tracing_data(Bytes bytes, std::uint64_t offset, KernelDescription& kernel, Findings& findings);

}  // namespace kmt::tracedat
