// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the name that a function has in the source code.
#pragma once

#include <string>
#include <string_view>

namespace kmt {

// Returns the function's name in the source code: "copy_process" for "copy_process.isra.0+0x20e [module]". Removes the
// offset, the module, and suffixes that compilers add to copies and parts of functions. Hex addresses are not changed.
// The result is a part of `symbol`.
std::string_view function_of(std::string_view symbol);

// True if a glob matches a call site. The glob may match the function with or without a compiler's suffix, the offset,
// the module, or combinations of these. A final " [brd]" or "*[brd]" matches the module brd; it is not a character set.
bool matches_site(const std::string& glob, const std::string& symbol);

}  // namespace kmt
