// SPDX-License-Identifier: GPL-2.0-or-later
// Reads and writes a sampled heap profile in a .kmt file: docs/formats/kmt.md, "A profile".
#pragma once

#include <cstdint>
#include <string>

#include "formats/trace_file.hpp"
#include "trace/kernel_description.hpp"
#include "trace/state/heap_sample.hpp"

namespace kmt::kmt_format {

struct StoredProfile {
  DrawnProfile profile;
  std::string kallsyms;  // symbols of the kernel, used to resolve addresses of the profile
};

// Creates the file or empties an existing one. Stores the kernel's names, notes and kallsyms with the profile. Throws
// Error.
void write_profile(const std::string& path, const DrawnProfile& profile, const KernelDescription& kernel);
// Throws Error if the file is not a profile or is damaged.
StoredProfile read_profile(const TraceFile& file);
// Adds the payload of one chunk to the profile. Subtracts the memory that the decoded payload needs, in bytes, from
// `budget`. Throws Error.
void decode_profile(Bytes payload, std::uint64_t& budget, DrawnProfile& profile);

}  // namespace kmt::kmt_format
