// SPDX-License-Identifier: GPL-2.0-or-later
// What a frame of a stack is called where only its function is shown.
#pragma once

#include <string>

#include "results/group.hpp"
#include "trace/code/function_name.hpp"

namespace kmt {

// "copy_process"; of a program's code with its object, by which it is told from the kernel's: "main (make)".
inline std::string frame_label(const CodeAddress& code) {
  return code.object.empty() ? std::string(function_of(code.symbol)) : plain_text(code);
}

}  // namespace kmt
