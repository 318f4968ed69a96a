// SPDX-License-Identifier: GPL-2.0-or-later
// Names of functions in the source.
#pragma once

#include <string>
#include <string_view>

namespace kmt {

// "copy_process" of "copy_process.isra.0+0x20e [module]": without where in it, in which module, and what compilers
// append to copies and parts of a function. An address in hex stays as it is. Borrows from `symbol`.
std::string_view function_of(std::string_view symbol);

// Whether a glob is of a call site: of its function, with what compilers append or without, or of that with where in
// it, in which module, or both. " [brd]" and "*[brd]" at its end are that module, and no set of characters.
bool matches_site(const std::string& glob, const std::string& symbol);

}  // namespace kmt
