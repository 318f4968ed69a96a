// SPDX-License-Identifier: GPL-2.0-or-later
// Inserts user input into SQL. Only this file puts strings and names in quotes.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kmt {

// Returns any text as a quoted SQL string: 'it\'s'.
std::string sql_string(std::string_view text);
// Returns any text as a quoted SQL name: `a name`.
std::string sql_name(std::string_view text);
// Returns the condition COLUMN LIKE '…' for a glob with the wildcards * and ?. All other characters match themselves.
std::string sql_like(std::string_view column, std::string_view glob);

// Replaces each {place} in a file of sql/ by its text, and removes comments. Throws Error if a place is unknown.
using SqlPlaces = std::vector<std::pair<std::string_view, std::string>>;
std::string fill_sql(std::string_view sql, const SqlPlaces& places);
// Splits SQL into statements. A statement ends with a semicolon at the end of a line.
std::vector<std::string> statements_of(const std::string& sql);

}  // namespace kmt
