// SPDX-License-Identifier: GPL-2.0-or-later
// SQL with what a user wrote in it: the only place that quotes.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kmt {

// 'it\'s': a string, whatever it holds.
std::string sql_string(std::string_view text);
// `a name`, whatever it holds.
std::string sql_name(std::string_view text);
// COLUMN LIKE '…', of a glob with * and ?; all else in it stands for itself.
std::string sql_like(std::string_view column, std::string_view glob);

// A text of sql/ with its {places} filled; comments are left out. Throws Error where one is not known.
using SqlPlaces = std::vector<std::pair<std::string_view, std::string>>;
std::string fill_sql(std::string_view sql, const SqlPlaces& places);
// The statements of it, which semicolons at the end of lines part.
std::vector<std::string> statements_of(const std::string& sql);

}  // namespace kmt
