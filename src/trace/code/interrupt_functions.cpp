// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/interrupt_functions.hpp"

#include <utility>

namespace kmt {

std::uint8_t interrupt_level_of(std::string_view function) {
  constexpr std::uint8_t kSoftIrqLevel = 1;
  // These functions are in kernel/softirq.c of Linux 6.1 and 6.18.
  constexpr std::pair<std::string_view, std::uint8_t> kCounting[] = {
      {"irq_enter", kHardIrqLevel},    {"irq_enter_rcu", kHardIrqLevel}, {"irq_exit", kHardIrqLevel},
      {"irq_exit_rcu", kHardIrqLevel}, {"__do_softirq", kSoftIrqLevel},  {"handle_softirqs", kSoftIrqLevel},
  };
  for (const auto& [name, level] : kCounting)
    if (name == function) return level;
  return 0;
}

}  // namespace kmt
