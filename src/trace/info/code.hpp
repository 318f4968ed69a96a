// SPDX-License-Identifier: GPL-2.0-or-later
// The code of the kernel, its modules and the traced programs.
#pragma once

#include <string>
#include <vector>

#include "trace/code/address_spaces.hpp"
#include "trace/code/module_loads.hpp"
#include "trace/code/user_code.hpp"

namespace kmt {

struct TraceCode {
  std::string kallsyms;                      // text of /proc/kallsyms; may be empty
  ModuleEvents module_events;                // from events
  std::vector<ModuleChange> module_changes;  // in order of time, as the recorder noticed them
  UserCode user;                             // code in user stacks
  AddressSpaces address_spaces;              // position of that code in the memory of processes
};

}  // namespace kmt
