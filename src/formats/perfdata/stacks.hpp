// SPDX-License-Identifier: GPL-2.0-or-later
// Splits a call chain into its kernel and user parts.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/perfdata/sample.hpp"

namespace kmt::perfdata {

// Returns the addresses of the kernel, innermost first, at most 256. Skips addresses of user space or a hypervisor.
void kernel_stack(Bytes chain, ByteOrder order, std::vector<std::uint64_t>& addresses);
// Returns the user-space addresses, innermost first, at most 256. With --call-graph dwarf, the sample has registers and
// a copy of the stack instead of these addresses. kmemtrace does not unwind such a stack, and returns only the program
// counter.
void user_stack(const Sample& sample, ByteOrder order, std::vector<std::uint64_t>& addresses);

}  // namespace kmt::perfdata
