// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that run in an interrupt while the kernel does not count it yet, or no more.
#pragma once

#include <cstdint>
#include <string_view>

namespace kmt {

constexpr std::uint8_t kHardIrqLevel = 2;  // as interrupt_level()

// The interrupt_level() of a function that counts the interrupt itself; else 0.
std::uint8_t interrupt_level_of(std::string_view function);

}  // namespace kmt
