// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's descriptions with which a trace.dat begins: sections of version 7, one behind the other in version 6,
// and as a whole the "tracing data" of a perf.data. Layout: trace-cmd.dat.v6(5).
#pragma once

#include "base/byte_reader.hpp"
#include "trace/imperfections.hpp"
#include "trace/kernel_description.hpp"

namespace kmt::tracedat {

// Each reads one description from where the reader stands. They throw Error where bytes are missing.
void read_header_info(ByteReader& in, KernelDescription& kernel);
void read_ftrace_formats(ByteReader& in, KernelDescription& kernel);
void read_event_formats(ByteReader& in, KernelDescription& kernel);
void read_kallsyms(ByteReader& in, KernelDescription& kernel);
void read_printk(ByteReader& in, KernelDescription& kernel);
void read_btf(ByteReader& in, KernelDescription& kernel);
void read_cmdlines(ByteReader& in, KernelDescription& kernel);

// A header as that of a trace.dat, versions 0.5 and 0.6, and all of these (util/trace-event-info.c of perf, Linux 6.1).
// What is there before damage is kept; the damage becomes a finding. `offset` is where the bytes are in their file.
void read_tracing_data(Bytes bytes, std::uint64_t offset, KernelDescription& kernel, Findings& findings);

}  // namespace kmt::tracedat
