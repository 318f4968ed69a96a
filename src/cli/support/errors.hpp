// SPDX-License-Identifier: GPL-2.0-or-later
// The one place where errors are printed.
#pragma once

#include "base/error.hpp"

namespace kmt {

// Prints problem, place, action and advice on stderr. Returns the error's exit status.
int print_error(const Error& error);

// libbabeltrace2 aborts the program on packets that it considers impossible (BT_ASSERT): the abort then prints an error
// message like others. Other aborts stay as they are.
void catch_aborts_of_libraries();

}  // namespace kmt
