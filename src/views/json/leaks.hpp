// SPDX-License-Identifier: GPL-2.0-or-later
// `leaks --json`: the schema of docs/formats/leaks-json.md.
#pragma once

#include <string>

#include "views/common/leaks_options.hpp"

namespace kmt {

std::string json_leaks(const LeaksResult& result, const LeaksOptions& options);

}  // namespace kmt
