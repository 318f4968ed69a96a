// SPDX-License-Identifier: GPL-2.0-or-later
// A sampled profile of the heap in a .kmt file: docs/formats/kmt.md, "A profile".
#pragma once

#include <cstdint>
#include <string>

#include "formats/trace_file.hpp"
#include "trace/kernel_description.hpp"
#include "trace/state/heap_sample.hpp"

namespace kmt::kmt_format {

struct StoredProfile {
  DrawnProfile profile;
  std::string kallsyms;  // of the kernel, what names the profile's addresses
};

// Makes the file, or empties it. Of the kernel its names, notes and kallsyms are kept. Throws Error.
void write_profile(const std::string& path, const DrawnProfile& profile, const KernelDescription& kernel);
// Throws Error where the file is no profile or not all of it is intact.
StoredProfile read_profile(const TraceFile& file);
// Adds what one chunk's payload has; takes the memory that it needs from `budget`, in bytes. Throws Error.
void decode_profile(Bytes payload, std::uint64_t& budget, DrawnProfile& profile);

}  // namespace kmt::kmt_format
