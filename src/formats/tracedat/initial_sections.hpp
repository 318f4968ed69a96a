// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's descriptions at the start of a trace.dat: sections in version 7, consecutive parts in version 6, and the
// "tracing data" of a perf.data as a whole. Layout: trace-cmd.dat.v6(5).
#pragma once

#include "base/byte_reader.hpp"
#include "trace/imperfections.hpp"
#include "trace/kernel_description.hpp"

namespace kmt::tracedat {

// Each reads one description at the reader's position, and throws Error if bytes are missing.
void read_header_info(ByteReader& in, KernelDescription& kernel);
void read_ftrace_formats(ByteReader& in, KernelDescription& kernel);
void read_event_formats(ByteReader& in, KernelDescription& kernel);
void read_kallsyms(ByteReader& in, KernelDescription& kernel);
void read_printk(ByteReader& in, KernelDescription& kernel);
void read_btf(ByteReader& in, KernelDescription& kernel);
void read_cmdlines(ByteReader& in, KernelDescription& kernel);

// Reads a header like that of a trace.dat, versions 0.5 and 0.6, and all of these (util/trace-event-info.c of perf,
// Linux 6.1). Keeps the part before damage; the damage becomes a finding. `offset` is the bytes' offset in their file.
void read_tracing_data(Bytes bytes, std::uint64_t offset, KernelDescription& kernel, Findings& findings);

}  // namespace kmt::tracedat
