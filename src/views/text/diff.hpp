// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a comparison of two traces as text.
#pragma once

#include <string>

#include "views/common/diff_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string text_diff(const DiffResult& result, const DiffOptions& options, const TextStyle& style);

}  // namespace kmt
