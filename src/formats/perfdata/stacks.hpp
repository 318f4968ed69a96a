// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's and the user's part of a call chain.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/perfdata/sample.hpp"

namespace kmt::perfdata {

// Returns the addresses from the kernel's mark to the next mark, innermost first, at most 256. Skips those of user
// space or a hypervisor.
void kernel_stack(Bytes chain, ByteOrder order, std::vector<std::uint64_t>& addresses);
// The same for user space. If the sample has registers and a copy of the program's memory instead (--call-graph dwarf),
// only the program counter: nothing is unwound.
void user_stack(const Sample& sample, ByteOrder order, std::vector<std::uint64_t>& addresses);

}  // namespace kmt::perfdata
