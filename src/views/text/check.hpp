// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the result of `check` for one file as text.
#pragma once

#include <string>

#include "results/report/check.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string text_check(const CheckResult& result, const TextStyle& style);

}  // namespace kmt
