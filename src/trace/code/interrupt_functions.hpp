// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that run in an interrupt at a time when the kernel does not yet, or no longer, count this interrupt.
#pragma once

#include <cstdint>
#include <string_view>

namespace kmt {

constexpr std::uint8_t kHardIrqLevel = 2;  // same value as in interrupt_level()

// Returns the interrupt_level() of a function that adds the interrupt to the count itself, otherwise 0.
std::uint8_t interrupt_level_of(std::string_view function);

}  // namespace kmt
