// SPDX-License-Identifier: GPL-2.0-or-later
// Labels of stack frames that show only the function.
#pragma once

#include <string>

#include "results/group.hpp"
#include "trace/code/function_name.hpp"

namespace kmt {

// "copy_process"; a program's function with its object: "main (make)".
inline std::string frame_label(const CodeAddress& code) {
  return code.object.empty() ? std::string(function_of(code.symbol)) : plain_text(code);
}

}  // namespace kmt
