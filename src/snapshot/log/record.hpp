// SPDX-License-Identifier: GPL-2.0-or-later
// Takes messages out of logs that are stored as JSON, as CSV, or as quoted-printable mail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

// The fields of a record that are not in the line of its text.
struct RecordFields {
  std::optional<std::uint64_t> wall_ns;
  bool has_zone = true;  // the same value as LogMessage::has_zone
  std::optional<std::uint64_t> boot_ns;
  std::string caller;
  std::string host;
};

// Takes a line that is only a string of a JSON array.
bool take_json_string(std::string_view line, std::string& message);

// Takes a line of JSON. A record may have one line or several lines. Returns true if the line belongs to a record.
// `message` is then the text of the message, if the line has it.
bool take_json(std::string_view line, std::string& message, RecordFields& fields);

// Takes "NAME=value" of `journalctl -o export` and `-o verbose`. Leaves the text of a message in `line`.
bool take_export(std::string_view& line, RecordFields& fields);

// Reads a table of comma-separated values. The first line may name the columns.
class CsvReader {
 public:
  // Takes a row. Returns false if the line is not a row.
  bool take(std::string_view line, std::string& message, RecordFields& fields);

 private:
  std::optional<std::size_t> column_;  // column with the message; the last column if the table has no header
};

// True for texts in which a mail program encoded "=" as "=3D" and split long lines with "=" at their ends.
bool is_quoted_printable(std::string_view text);

}  // namespace kmt
