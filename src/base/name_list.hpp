// SPDX-License-Identifier: GPL-2.0-or-later
// Many names in a message.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kmt {

// The first ones of them: "a, b, c and 7 more".
std::string first_of(const std::vector<std::string>& names, std::size_t most = 10);

}  // namespace kmt
