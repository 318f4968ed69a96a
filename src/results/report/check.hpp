// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `check` for one file.
#pragma once

#include "results/report/report.hpp"

namespace kmt {

struct CheckResult {
  TraceSummary trace;
  Findings findings;  // of the source and of the check itself; places carry cpu, offset and time where known
  bool sound = true;  // nothing of severity `loss` or `error`, nor `uncertain`
};

}  // namespace kmt
