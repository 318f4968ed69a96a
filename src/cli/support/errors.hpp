// SPDX-License-Identifier: GPL-2.0-or-later
// Prints all errors of the program.
#pragma once

#include "base/error.hpp"

namespace kmt {

// Prints the problem, place, action and advice on stderr. Returns the exit status of the error.
int print_error(const Error& error);

// libbabeltrace2 aborts the program if a packet violates its assertions (BT_ASSERT). Such an abort then prints an error
// message like other errors. Other aborts stay unchanged.
void catch_aborts_of_libraries();

}  // namespace kmt
