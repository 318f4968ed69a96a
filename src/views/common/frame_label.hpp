// SPDX-License-Identifier: GPL-2.0-or-later
// Labels of stack frames that show only the function.
#pragma once

#include <string>

#include "results/group.hpp"
#include "trace/code/function_name.hpp"

namespace kmt {

// "copy_process" for the kernel, "main (make)" for a function of a program or library.
inline std::string frame_label(const CodeAddress& code) {
  return code.object.empty() ? std::string(function_of(code.symbol)) : plain_text(code);
}

}  // namespace kmt
