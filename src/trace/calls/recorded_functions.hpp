// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>

namespace kmt {

// The limit of functions recorded at once. A trace holds their types, not those of the kernel's tens of thousands.
constexpr std::size_t kMostRecordedFunctions = 4000;

}  // namespace kmt
