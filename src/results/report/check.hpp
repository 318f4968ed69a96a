// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `check` for one file.
#pragma once

#include "results/report/report.hpp"

namespace kmt {

struct CheckResult {
  TraceSummary trace;
  Findings findings;  // findings of the reader and of the check, with cpu, offset and time if known
  bool sound = true;  // no findings of severity `uncertain`, `loss` or `error`
};

}  // namespace kmt
