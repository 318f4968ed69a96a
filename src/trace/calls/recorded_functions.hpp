// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>

namespace kmt {

// Maximum number of functions whose arguments are recorded in one trace. A trace contains the types of these functions,
// not those of all kernel functions.
constexpr std::size_t kMostRecordedFunctions = 4000;

}  // namespace kmt
