// SPDX-License-Identifier: GPL-2.0-or-later
// Targets of BPF trampolines: functions by their types, in the BTF of the kernel or of a module.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "capture/recorded_calls.hpp"

namespace kmt {

struct TrampolineTarget {
  unsigned id = 0;        // of the function in these types; 0: there is no trampoline
  int types = 0;          // descriptor of a module's; 0: the kernel's
  bool is_plain = false;  // arguments and result are numbers and pointers in registers, which no kernel refuses
  std::string why_not;    // reason if there is none
};

struct TrampolineTargets {
  std::vector<TrampolineTarget> of;        // for each function
  std::vector<FileDescriptor> of_modules;  // borrowed by targets
};

// `kallsyms` is the text of /proc/kallsyms. Throws Error if the kernel's types are unreadable.
TrampolineTargets find_trampoline_targets(const std::vector<TracedFunction>& functions, std::string_view kallsyms);

}  // namespace kmt
