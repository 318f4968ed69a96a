// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that run in an interrupt before the kernel counts it, or after the kernel has stopped counting it.
#pragma once

#include <cstdint>
#include <string_view>

namespace kmt {

constexpr std::uint8_t kHardIrqLevel = 2;  // same value as in interrupt_level()

// Returns the interrupt_level() of a function that counts the interrupt itself, otherwise 0.
std::uint8_t interrupt_level_of(std::string_view function);

}  // namespace kmt
