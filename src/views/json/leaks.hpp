// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the document of `leaks --json`. docs/formats/leaks-json.md has its schema.
#pragma once

#include <string>

#include "views/common/leaks_options.hpp"

namespace kmt {

std::string json_leaks(const LeaksResult& result, const LeaksOptions& options);

}  // namespace kmt
