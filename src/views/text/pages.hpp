// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the activity of the page allocator as text.
#pragma once

#include <string>

#include "views/common/pages_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string text_pages(const PagesResult& result, const PagesOptions& options, const TextStyle& style);

}  // namespace kmt
