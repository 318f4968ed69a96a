// SPDX-License-Identifier: GPL-2.0-or-later
// Prepares the types of the running kernel before calls are recorded. The types show which values must be read from
// memory. They are also stored in the trace.
#pragma once

#include <string>
#include <vector>

#include "trace/calls/types.hpp"
#include "trace/calls/value_path.hpp"

namespace kmt {

struct CallRequest {
  std::string function;
  std::string module;  // name of the module; empty for functions of the kernel itself
};

struct PreparedCalls {
  CallTypes types;  // the prototypes of the functions, and all types that these prototypes need
  // one element for each requested function; empty if its types are unknown
  std::vector<FunctionValues> functions;
};

// Prepares the calls of functions for recording. String arguments (const char *) and arguments on the stack are always
// recorded, and come before all other values. `shown` has more values as paths with the syntax of resolve_value(). A
// path is recorded for those functions that have such a value. Throws Error if the kernel has no types, or if no
// function has one of the values in `shown`. `folder` has the types of the kernel and of its modules; the types of the
// kernel are read from the file `kernel_types` instead if it is not empty.
PreparedCalls prepare_calls(const std::vector<CallRequest>& requests, const std::vector<std::string>& shown = {},
                            const std::string& folder = "/sys/kernel/btf", const std::string& kernel_types = "");

}  // namespace kmt
