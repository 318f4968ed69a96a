// SPDX-License-Identifier: GPL-2.0-or-later
// Converts the texts of the kernel's files to structs. docs/formats/kmt.md, "A snapshot", names the texts. They may be
// from any kernel, or malicious. Lines that are not understood are kept in KernelMemory::unknown and never throw.
#pragma once

#include "trace/state/kernel_memory.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// Parses the whole sample. If `page_size` is 0, derives it from amounts that are given both in pages and in bytes.
KernelMemory parse_snapshot(const StateSample& sample, std::uint32_t page_size);

// Throws Error for `path` if a line of meminfo, vmstat or slabinfo has an unreadable number, because its amount would
// be missing from the sums. Other sources are not checked.
void refuse_damage(std::string_view source, std::string_view text, const std::string& path);

}  // namespace kmt
