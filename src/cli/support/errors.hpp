// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the error messages of the program.
#pragma once

#include "base/error.hpp"

namespace kmt {

// Prints on stderr what is wrong, where it is, what was attempted and what to do. Returns the exit status for the
// error.
int print_error(const Error& error);

// libbabeltrace2 aborts the program if a packet violates one of its assertions (BT_ASSERT). After this call, such an
// abort prints an error message. Other aborts are not affected.
void catch_aborts_of_libraries();

}  // namespace kmt
