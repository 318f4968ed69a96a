// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that run at the start or end of an interrupt, when the kernel's preempt count does not include it.
#pragma once

#include <cstdint>
#include <string_view>

namespace kmt {

constexpr std::uint8_t kHardIrqLevel = 2;  // same value as in interrupt_level()

// Returns the interrupt_level() that the function itself enters or leaves; 0 for other functions.
std::uint8_t interrupt_level_of(std::string_view function);

}  // namespace kmt
