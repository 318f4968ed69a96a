// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that run in an interrupt while the preempt count does not include it yet, or no longer includes it.
#pragma once

#include <cstdint>
#include <string_view>

namespace kmt {

constexpr std::uint8_t kHardIrqLevel = 2;  // same value as in interrupt_level()

// Returns the interrupt_level() that the function itself enters or leaves; 0 for other functions.
std::uint8_t interrupt_level_of(std::string_view function);

}  // namespace kmt
