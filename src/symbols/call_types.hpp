// SPDX-License-Identifier: GPL-2.0-or-later
// Prepares the running kernel's types for recording calls: the values to read from memory, and the types to store in
// the trace.
#pragma once

#include <string>
#include <vector>

#include "trace/calls/types.hpp"
#include "trace/calls/value_path.hpp"

namespace kmt {

struct CallRequest {
  std::string function;
  std::string module;  // empty for functions of the kernel itself
};

struct PreparedCalls {
  CallTypes types;  // prototypes of all functions that have one, and the types that these need
  // in the order of the requests; an element is empty if the function's types are unknown
  std::vector<FunctionValues> functions;
};

// String arguments (const char *) and arguments on the stack are always recorded, before all other values. `shown` has
// paths as for resolve_value(); each is recorded for the functions that have such a value. Throws Error if the kernel
// has no types, or if no function has a value in `shown`.
PreparedCalls prepare_calls(const std::vector<CallRequest>& requests, const std::vector<std::string>& shown = {},
                            const std::string& folder = "/sys/kernel/btf");

}  // namespace kmt
