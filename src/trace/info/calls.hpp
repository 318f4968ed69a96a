// SPDX-License-Identifier: GPL-2.0-or-later
// The recorded arguments and return values of calls.
#pragma once

#include <memory>

#include "trace/calls/types.hpp"

namespace kmt {

class CallRecords;

struct TraceCalls {
  CallTypes types;                       // types of the functions whose arguments are recorded
  bool are_blank = false;                // true: arguments and return values were removed from the trace
  std::shared_ptr<CallRecords> records;  // null if OpenOptions does not request the records
};

}  // namespace kmt
