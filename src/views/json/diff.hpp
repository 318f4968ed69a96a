// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the document of `diff --json`. docs/formats/diff-json.md has its schema.
#pragma once

#include <string>

#include "views/common/diff_options.hpp"

namespace kmt {

std::string json_diff(const DiffResult& result, const DiffOptions& options);

}  // namespace kmt
