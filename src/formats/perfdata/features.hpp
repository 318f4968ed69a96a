// SPDX-License-Identifier: GPL-2.0-or-later
// What perf says of the recorded machine: sections behind the data, or records of a pipe.
#pragma once

#include "base/byte_reader.hpp"
#include "formats/perfdata/file.hpp"
#include "formats/perfdata/record_cursor.hpp"
#include "trace/imperfections.hpp"

namespace kmt::perfdata {

// The contents of a PERF_RECORD_HEADER_BUILD_ID, or of one entry of the section of build-ids.
void read_build_id(std::uint16_t misc, ByteReader in, KernelDescription& kernel);

// Of a PERF_RECORD_MMAP or …_MMAP2: where the kernel lay, and the build-id of it or of a module, if it is said.
void read_kernel_mapping(const Record& record, KernelDescription& kernel);

// One feature (layout.hpp); others than those known are passed over. Damage becomes a finding.
void read_feature(unsigned feature, Bytes bytes, std::uint64_t offset, FileContents& contents, Findings& findings);

// What `uname -a` would have said, from the names that features gave; empty when there were none.
std::string uname_of_names(const KernelDescription& kernel);

}  // namespace kmt::perfdata
