// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the features, in which perf describes the recorded machine. A file has them in sections after the data, and a
// pipe in records.
#pragma once

#include "base/byte_reader.hpp"
#include "formats/perfdata/file.hpp"
#include "formats/perfdata/record_cursor.hpp"
#include "trace/imperfections.hpp"

namespace kmt::perfdata {

// Reads the contents of a PERF_RECORD_HEADER_BUILD_ID, or of an entry in the section of build IDs.
void read_build_id(std::uint16_t misc, ByteReader in, KernelDescription& kernel);

// Reads the kernel's address from a PERF_RECORD_MMAP or PERF_RECORD_MMAP2, and the build ID of the kernel or a module
// if the record has it.
void read_kernel_mapping(const Record& record, KernelDescription& kernel);

// Reads a feature, whose number is in layout.hpp. Ignores unknown features. Damage becomes a finding.
void read_feature(unsigned feature, Bytes bytes, std::uint64_t offset, FileContents& contents, Findings& findings);

// Returns a text like `uname -a`, made from names in the features. Empty if there are no names.
std::string uname_of_names(const KernelDescription& kernel);

}  // namespace kmt::perfdata
