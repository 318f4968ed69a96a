// SPDX-License-Identifier: GPL-2.0-or-later
// Quotes the start of text from untrusted files in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kmt {

// Returns the start of the text, safe to print. "…" shows that the rest was cut off.
std::string excerpt(std::string_view text, std::size_t most_bytes = 200);

}  // namespace kmt
