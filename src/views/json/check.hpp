// SPDX-License-Identifier: GPL-2.0-or-later
// `check --json`: the schema of docs/formats/check-json.md.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "results/report/check.hpp"

namespace kmt {

// Result for one file: a check result or an error.
struct CheckedFile {
  std::string path;
  std::optional<CheckResult> result;
  std::optional<Error> error;  // set if `result` is empty
};

std::string json_check(const std::vector<CheckedFile>& files);

}  // namespace kmt
