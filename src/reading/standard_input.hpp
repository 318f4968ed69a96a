// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "formats/trace_file.hpp"

namespace kmt {

// Returns the content of standard input, which the user names as `-`. The first call reads all of it and keeps it for
// later calls.
TraceFile standard_input();

}  // namespace kmt
