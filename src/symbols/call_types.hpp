// SPDX-License-Identifier: GPL-2.0-or-later
// The running kernel's types for recording calls: which values to read from memory, and the part of the types that goes
// into the trace.
#pragma once

#include <string>
#include <vector>

#include "trace/calls/types.hpp"
#include "trace/calls/value_path.hpp"

namespace kmt {

struct CallRequest {
  std::string function;
  std::string module;  // empty: of the kernel
};

struct PreparedCalls {
  CallTypes types;                        // prototypes of all functions that have one, and the types in them
  std::vector<FunctionValues> functions;  // as asked for; what a function whose types are not known has is empty
};

// Strings that are arguments (const char *), and arguments on the stack, are recorded without being asked for, before
// all others; what is `shown`, as resolve_value() takes it, of every function that has it. Throws Error when the kernel
// has no types, and where none of the functions has a value that is to be shown.
PreparedCalls prepare_calls(const std::vector<CallRequest>& requests, const std::vector<std::string>& shown = {},
                            const std::string& folder = "/sys/kernel/btf");

}  // namespace kmt
