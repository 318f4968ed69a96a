// SPDX-License-Identifier: GPL-2.0-or-later
// `check` as text, one file at a time.
#pragma once

#include <string>

#include "results/report/check.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string text_check(const CheckResult& result, const TextStyle& style);

}  // namespace kmt
