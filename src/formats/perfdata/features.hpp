// SPDX-License-Identifier: GPL-2.0-or-later
// perf's description of the recorded machine: sections after the data, or records of a pipe.
#pragma once

#include "base/byte_reader.hpp"
#include "formats/perfdata/file.hpp"
#include "formats/perfdata/record_cursor.hpp"
#include "trace/imperfections.hpp"

namespace kmt::perfdata {

// The contents of a PERF_RECORD_HEADER_BUILD_ID, or of an entry of the section of build IDs.
void read_build_id(std::uint16_t misc, ByteReader in, KernelDescription& kernel);

// Learns the kernel's address, and the build ID of it or of a module if present, from a PERF_RECORD_MMAP or …_MMAP2.
void read_kernel_mapping(const Record& record, KernelDescription& kernel);

// Reads one feature (layout.hpp); ignores unknown ones. Damage becomes a finding.
void read_feature(unsigned feature, Bytes bytes, std::uint64_t offset, FileContents& contents, Findings& findings);

// Returns text like that of `uname -a`, from the features' names; empty without names.
std::string uname_of_names(const KernelDescription& kernel);

}  // namespace kmt::perfdata
