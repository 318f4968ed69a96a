// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's and the user's part of a call chain.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/perfdata/sample.hpp"

namespace kmt::perfdata {

// What stands behind the mark of the kernel up to the next mark, innermost first: at most 256 addresses. What user
// space or a hypervisor did is left out.
void kernel_stack(Bytes chain, ByteOrder order, std::vector<std::uint64_t>& addresses);
// The same of user space. Where the sample has registers and a copy of the program's memory instead (--call-graph
// dwarf), only where the program was: nothing is unwound.
void user_stack(const Sample& sample, ByteOrder order, std::vector<std::uint64_t>& addresses);

}  // namespace kmt::perfdata
