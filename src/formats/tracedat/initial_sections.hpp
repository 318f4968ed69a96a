// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the kernel descriptions at the start of a trace.dat. Version 7 has each description in a section. Version 6 has
// them one after the other, and so has the "tracing data" of a perf.data. trace-cmd.dat.v6(5) describes the layout.
#pragma once

#include "base/byte_reader.hpp"
#include "trace/imperfections.hpp"
#include "trace/kernel_description.hpp"

namespace kmt::tracedat {

// The following functions read one description each, at the reader's position. They throw Error if bytes are missing.
void read_header_info(ByteReader& in, KernelDescription& kernel);
void read_ftrace_formats(ByteReader& in, KernelDescription& kernel);
void read_event_formats(ByteReader& in, KernelDescription& kernel);
void read_kallsyms(ByteReader& in, KernelDescription& kernel);
void read_printk(ByteReader& in, KernelDescription& kernel);
void read_btf(ByteReader& in, KernelDescription& kernel);
void read_cmdlines(ByteReader& in, KernelDescription& kernel);

// Reads the "tracing data" of a perf.data (util/trace-event-info.c of perf, Linux 6.1): a header like that of a
// trace.dat, with version 0.5 or 0.6, and then all these descriptions. Damage becomes a finding, and the data before
// the damage is kept. `offset` is the position of `bytes` in the file.
void read_tracing_data(Bytes bytes, std::uint64_t offset, KernelDescription& kernel, Findings& findings);

}  // namespace kmt::tracedat
