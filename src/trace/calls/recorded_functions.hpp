// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>

namespace kmt {

// Of which calls are recorded at once. Kernels have tens of thousands: types of more are those of a kernel as a whole.
constexpr std::size_t kMostRecordedFunctions = 4000;

}  // namespace kmt
