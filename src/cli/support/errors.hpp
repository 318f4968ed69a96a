// SPDX-License-Identifier: GPL-2.0-or-later
// The one place where errors are printed.
#pragma once

#include "base/error.hpp"

namespace kmt {

// What, where, while and what to do, on stderr. The exit status that belongs to the error.
int print_error(const Error& error);

// libbabeltrace2 ends the program where it meets packets that it takes for impossible (BT_ASSERT): such an abort
// becomes an error like others, though only in words.
void catch_aborts_of_libraries();

}  // namespace kmt
