// SPDX-License-Identifier: GPL-2.0-or-later
// Finds arguments that are not in registers, according to the ABIs of Linux kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/calls/signature.hpp"

namespace kmt {

// Returns the number of registers that a machine (uname -m) uses for arguments, including those that are not recorded.
// 0 if unknown.
unsigned argument_registers(std::string_view machine);

// Returns the offset of a stack argument from the stack pointer at function entry, in bytes. Only for numbers, pointers
// and strings (their pointer). Empty if the argument is in registers, has another type, or the ABI is unknown.
std::optional<std::uint32_t> stack_offset_of(const CallSignature& signature, const CallAbi& abi, std::size_t parameter);

}  // namespace kmt
