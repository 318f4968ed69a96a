// SPDX-License-Identifier: GPL-2.0-or-later
// From the texts of the kernel's files to structs: docs/formats/kmt.md, "A snapshot", names the texts. Texts may be of
// any kernel, or hostile: what is not understood is kept in KernelMemory::unknown, and nothing here throws for it.
#pragma once

#include "trace/state/kernel_memory.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

// Parses the whole sample. If `page_size` is 0, it is derived from amounts given both in pages and in bytes.
KernelMemory parse_snapshot(const StateSample& sample, std::uint32_t page_size);

// Refuses a copy of meminfo, vmstat or slabinfo with a line whose numbers cannot be read: what they are would count as
// nothing. Throws Error at the path. Other sources are not checked.
void refuse_damage(std::string_view source, std::string_view text, const std::string& path);

}  // namespace kmt
