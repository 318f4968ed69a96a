// SPDX-License-Identifier: GPL-2.0-or-later
// Text in XML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace kmt {

// Escapes text for XML. The text must be valid UTF-8 without control characters.
std::string xml_text(std::string_view text);

}  // namespace kmt
