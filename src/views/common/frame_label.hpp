// SPDX-License-Identifier: GPL-2.0-or-later
// Labels stack frames with the name of the function only.
#pragma once

#include <string>

#include "results/group.hpp"
#include "trace/code/function_name.hpp"

namespace kmt {

// Returns "copy_process" for a kernel function, and "main (make)" for a function of a program or library.
inline std::string frame_label(const CodeAddress& code) {
  return code.object.empty() ? std::string(function_of(code.symbol)) : plain_text(code);
}

}  // namespace kmt
