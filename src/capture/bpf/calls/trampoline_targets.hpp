// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the targets of BPF trampolines: the types of functions in the BTF of the kernel or of a module.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "capture/recorded_calls.hpp"

namespace kmt {

struct TrampolineTarget {
  unsigned id = 0;  // ID of the function in the BTF `types`; 0: the function cannot have a trampoline
  int types = 0;    // descriptor of the module's BTF; 0: the kernel's BTF
  // True if all arguments and the result are numbers or pointers in registers; every kernel accepts such a function.
  bool is_plain = false;
  std::string why_not;  // reason if there is no trampoline
};

struct TrampolineTargets {
  std::vector<TrampolineTarget> of;        // one target for each function
  std::vector<FileDescriptor> of_modules;  // open BTF of modules; TrampolineTarget::types has their descriptors
};

// Returns the targets for these functions. `kallsyms` is the text of /proc/kallsyms. Throws Error if the kernel's types
// are unreadable.
TrampolineTargets find_trampoline_targets(const std::vector<TracedFunction>& functions, std::string_view kallsyms);

}  // namespace kmt
