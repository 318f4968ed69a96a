// SPDX-License-Identifier: GPL-2.0-or-later
// The recorded arguments and return values of calls.
#pragma once

#include <memory>

#include "trace/calls/types.hpp"

namespace kmt {

class CallRecords;

struct TraceCalls {
  CallTypes types;                       // types of the calls with recorded arguments
  bool are_blank = false;                // arguments and return values were removed from the trace
  std::shared_ptr<CallRecords> records;  // null: not requested in OpenOptions
};

}  // namespace kmt
