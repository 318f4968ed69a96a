// SPDX-License-Identifier: GPL-2.0-or-later
// The one place where errors are printed.
#pragma once

#include "base/error.hpp"

namespace kmt {

// What, where, while and what to do, on stderr. The exit status that belongs to the error.
int print_error(const Error& error);

}  // namespace kmt
