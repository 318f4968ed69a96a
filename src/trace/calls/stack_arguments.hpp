// SPDX-License-Identifier: GPL-2.0-or-later
// Places of arguments that are in no register, by the ABIs of Linux kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/calls/signature.hpp"

namespace kmt {

// In how many registers a machine (uname -m) passes arguments, whether they are recorded or not; 0: not known.
unsigned argument_registers(std::string_view machine);

// How many bytes above the stack pointer, when the function is entered, an argument begins that is a number, a pointer
// or a string (its pointer). Empty: it is in registers, is something else, or the ABI is not known.
std::optional<std::uint32_t> stack_offset_of(const CallSignature& signature, const CallAbi& abi, std::size_t parameter);

}  // namespace kmt
