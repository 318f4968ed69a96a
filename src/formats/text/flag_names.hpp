// SPDX-License-Identifier: GPL-2.0-or-later
// Recognises names of GFP flags that are cut off.
#pragma once

#include <string_view>

namespace kmt::text {

// True if the text is the start of a flag's name, but not a whole name, such as "GFP_KER". False for names that
// kmemtrace does not know.
bool is_cut_flag(std::string_view name);

}  // namespace kmt::text
