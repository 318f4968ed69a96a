// SPDX-License-Identifier: GPL-2.0-or-later
// What an investigation comes to, in words: the page, the text and the JSON have the same sentences.
#pragma once

#include <string>
#include <string_view>

#include "results/growth/investigation.hpp"

namespace kmt {

// The conclusion in a sentence or two.
std::string conclusion_words(const InvestigationResult& result);
std::string words_of(const Reason& reason);
std::string_view words_of(NoAccount why);

}  // namespace kmt
