// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the known name that the user probably meant to type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace kmt {

// Returns the name that is most similar to the typed text. A similar name has at most two typing errors (at most one if
// the name is short), or starts with the typed text. An error is a character that is inserted, deleted or replaced, or
// two swapped characters. Returns an empty text if there is no similar name.
std::string nearest_name(std::string_view typed, const std::vector<std::string>& names);

// Returns an error such as "Cannot sort by "hit"". The hint has the most similar name and all known names.
Error unknown_name(std::string_view what, std::string_view typed, const std::vector<std::string>& names);

}  // namespace kmt
