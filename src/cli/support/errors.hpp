// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the error messages of the program.
#pragma once

#include "base/error.hpp"

namespace kmt {

// Prints on stderr what is wrong, where it is, what was attempted and what to do. Returns the exit status for the
// error.
int print_error(const Error& error);

// Makes an abort, trap or crash in libbabeltrace2 print an error message. The library aborts the program if a packet
// violates one of its assertions (BT_ASSERT). Aborts outside the library are not affected.
void catch_aborts_of_libraries();

}  // namespace kmt
