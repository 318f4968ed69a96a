// SPDX-License-Identifier: GPL-2.0-or-later
// Errors about optional parts of the program that this build lacks. docs/install.md lists the parts.
#pragma once

#include <string_view>

#include "base/error.hpp"

namespace kmt {

// `purpose` is what the part does, such as "read CTF traces". `package` is the Debian package that building the part
// needs, and `part` the end of the name of its build option, such as "CTF".
Error missing_part(std::string_view purpose, std::string_view package, std::string_view part);

}  // namespace kmt
