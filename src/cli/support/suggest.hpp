// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the known name that a mistyped name probably means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace kmt {

// Returns the nearest name. It has at most two typing errors (insert, delete, replace, swap), or one in short names, or
// it starts with the typed text. Returns an empty text if there is no such name.
std::string nearest_name(std::string_view typed, const std::vector<std::string>& names);

// Returns an error such as "Cannot sort by "hit"". The hint has the nearest name and all known names.
Error unknown_name(std::string_view what, std::string_view typed, const std::vector<std::string>& names);

}  // namespace kmt
