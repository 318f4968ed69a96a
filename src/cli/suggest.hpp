// SPDX-License-Identifier: GPL-2.0-or-later
// The known name that a mistyped one probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kmt {

// Empty when none is near: at most two typing errors (insert, delete, replace, swap), one in short names; or a name
// that starts with what was typed.
std::string nearest_name(std::string_view typed, const std::vector<std::string>& names);

}  // namespace kmt
