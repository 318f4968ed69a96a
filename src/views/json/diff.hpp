// SPDX-License-Identifier: GPL-2.0-or-later
// `diff --json`: the schema of docs/formats/diff-json.md.
#pragma once

#include <string>

#include "views/common/diff_options.hpp"

namespace kmt {

std::string json_diff(const DiffResult& result, const DiffOptions& options);

}  // namespace kmt
