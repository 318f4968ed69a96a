// SPDX-License-Identifier: GPL-2.0-or-later
// What BPF trampolines are attached to: functions by their types, in the kernel's BTF or in that of a module.
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
  bool is_plain = false;  // arguments and result are numbers and pointers, in registers: no kernel refuses that
  std::string why_not;    // where there is none
};

struct TrampolineTargets {
  std::vector<TrampolineTarget> of;        // each function
  std::vector<FileDescriptor> of_modules;  // which targets borrow
};

// `kallsyms` is the text of /proc/kallsyms. Throws Error where the kernel's types cannot be read.
TrampolineTargets find_trampoline_targets(const std::vector<TracedFunction>& functions, std::string_view kallsyms);

}  // namespace kmt
