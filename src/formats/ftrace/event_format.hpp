// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the kernel's event format descriptions (events/SYSTEM/NAME/format, events/header_page) with libtraceevent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/imperfections.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

struct FormatField {
  std::string name;
  unsigned offset = 0;       // in bytes from the start of the record
  unsigned size = 0;         // in bytes; 0 for an array that extends to the end of the record
  bool is_dynamic = false;   // a __data_loc, which is length << 16 | offset
  bool is_relative = false;  // a __rel_loc, whose offset starts at the end of the field
  bool is_array = false;     // an array of fixed or dynamic size
  bool is_string = false;    // an array of characters
  bool is_signed = false;
  unsigned element_size = 0;  // in bytes; only for arrays
};

struct EventFormat {
  unsigned id = 0;
  std::string system;
  std::string name;
  std::vector<FormatField> fields;  // the common fields come first
  std::string print_format;         // the text after "print fmt:"

  const FormatField* field(const char* wanted) const;
};

// Returns all formats that can be parsed. Formats that cannot be parsed, and duplicate IDs, become findings.
std::vector<EventFormat> parse_event_formats(const std::vector<FormatText>& texts, Findings& findings);

// Returns the size of `commit` in events/header_page, which is the kernel's word size: 4 or 8. Throws Error.
unsigned long_bytes_of_header_page(const std::string& header_page);

}  // namespace kmt
