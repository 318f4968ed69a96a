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
  ModuleEvents module_events;                // loads and removals of modules that events report
  std::vector<ModuleChange> module_changes;  // changes in the order in which the recorder noticed them
  UserCode user;                             // the code in user stacks
  AddressSpaces address_spaces;              // where the code of user stacks is in the memory of each process
};

}  // namespace kmt
