// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the result of `leaks` as text.
#pragma once

#include <string>

#include "views/common/leaks_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string text_leaks(const LeaksResult& result, const LeaksOptions& options, const TextStyle& style);

}  // namespace kmt
