// SPDX-License-Identifier: GPL-2.0-or-later
// Text from untrusted traces, made safe to show; globs; splitting.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

// Control characters and bytes that are not UTF-8 become \xNN, so that nothing from a trace can steer a terminal
// or break a JSON string.
std::string printable(std::string_view text);

// Columns that UTF-8 text takes, where each of its characters takes one.
std::size_t columns_of(std::string_view text);

// fnmatch(3) with `*`, `?` and `[…]`.
bool glob_match(const std::string& pattern, const std::string& text);

std::vector<std::string_view> split(std::string_view text, char separator);
template <std::same_as<std::string> Temporary>  // the parts would outlive it
std::vector<std::string_view> split(Temporary&& text, char separator) = delete;
std::string_view trim(std::string_view text);

// The first ones of many names: "a, b, c and 7 more".
std::string first_of(const std::vector<std::string>& names, std::size_t most = 10);

}  // namespace kmt
