// SPDX-License-Identifier: GPL-2.0-or-later
// The page allocator's activity as text.
#pragma once

#include <string>

#include "views/common/pages_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

std::string text_pages(const PagesResult& result, const PagesOptions& options, const TextStyle& style);

}  // namespace kmt
