// SPDX-License-Identifier: GPL-2.0-or-later
// The recorded arguments and return values of calls.
#pragma once

#include <memory>

#include "trace/calls/types.hpp"

namespace kmt {

class CallRecords;

struct TraceCalls {
  CallTypes types;                       // of calls whose arguments were recorded
  bool are_blank = false;                // arguments and return values were taken out of the trace
  std::shared_ptr<CallRecords> records;  // null: OpenOptions did not ask for them
};

}  // namespace kmt
