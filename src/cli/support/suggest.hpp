// SPDX-License-Identifier: GPL-2.0-or-later
// The known name that a mistyped one probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace kmt {

// Empty if none is near: at most two typing errors (insert, delete, replace, swap), one in short names; or a name that
// starts with the typed text.
std::string nearest_name(std::string_view typed, const std::vector<std::string>& names);

// "Cannot sort by "hit"", with the nearest name and all of them as a hint.
Error unknown_name(std::string_view what, std::string_view typed, const std::vector<std::string>& names);

}  // namespace kmt
