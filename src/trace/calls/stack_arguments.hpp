// SPDX-License-Identifier: GPL-2.0-or-later
// Finds arguments that are on the stack instead of in registers, using the calling conventions of Linux kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/calls/signature.hpp"

namespace kmt {

// Returns the number of registers that a machine (uname -m) uses for arguments, even if only some of them are recorded.
// 0 if unknown.
unsigned argument_registers(std::string_view machine);

// Returns the offset of a stack argument from the stack pointer at function entry, in bytes. For a string, returns the
// offset of its pointer. Empty if the argument is in a register, if it is a structure, or if the calling convention is
// unknown.
std::optional<std::uint32_t> stack_offset_of(const CallSignature& signature, const CallAbi& abi, std::size_t parameter);

}  // namespace kmt
