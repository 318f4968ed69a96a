// SPDX-License-Identifier: GPL-2.0-or-later
// What functions are called in the source.
#pragma once

#include <string_view>

namespace kmt {

// "copy_process" of "copy_process.isra.0+0x20e [module]": without where in it, in which module, and what compilers
// append to copies and parts of a function. An address in hex stays as it is. Borrows from `symbol`.
std::string_view function_of(std::string_view symbol);

}  // namespace kmt
