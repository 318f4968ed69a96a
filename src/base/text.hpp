// SPDX-License-Identifier: GPL-2.0-or-later
// Makes text from untrusted traces safe to print. Also matches globs and splits text.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

// Replaces control characters and bytes that are not UTF-8 by \xNN, so that text from a trace cannot control a terminal
// or break a JSON string.
std::string printable(std::string_view text);

// Returns the start of the text, safe to print. "…" shows that the rest was cut off.
std::string excerpt(std::string_view text, std::size_t most_bytes = 200);

// Returns the width of UTF-8 text in columns, assuming one column per character.
std::size_t columns_of(std::string_view text);

// Matches like fnmatch(3) with `*`, `?` and `[…]`.
bool glob_match(const std::string& pattern, const std::string& text);

std::vector<std::string_view> split(std::string_view text, char separator);
template <std::same_as<std::string> Temporary>  // deleted: the parts would refer to a destroyed text
std::vector<std::string_view> split(Temporary&& text, char separator) = delete;
std::string_view trim(std::string_view text);

// Lists the first of many names: "a, b, c and 7 more".
std::string first_of(const std::vector<std::string>& names, std::size_t most = 10);

}  // namespace kmt
