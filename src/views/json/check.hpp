// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the document of `check --json`. docs/formats/check-json.md has its schema.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "results/report/check.hpp"

namespace kmt {

// The result for one file, which is a check result or an error.
struct CheckedFile {
  std::string path;
  std::optional<CheckResult> result;
  std::optional<Error> error;  // set if the file could not be checked, and so `result` is empty
};

std::string json_check(const std::vector<CheckedFile>& files);

}  // namespace kmt
