// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's event format descriptions (events/SYSTEM/NAME/format, events/header_page), parsed by libtraceevent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/imperfections.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

struct FormatField {
  std::string name;
  unsigned offset = 0;       // bytes from the start of the record
  unsigned size = 0;         // bytes; 0 for an array that takes the rest of the record
  bool is_dynamic = false;   // a __data_loc: length << 16 | offset
  bool is_relative = false;  // a __rel_loc: the offset counts from the field's end
  bool is_array = false;     // dynamic or not
  bool is_string = false;    // an array of characters
  bool is_signed = false;
  unsigned element_size = 0;  // bytes, for an array
};

struct EventFormat {
  unsigned id = 0;
  std::string system;
  std::string name;
  std::vector<FormatField> fields;  // common fields first
  std::string print_format;         // the text after "print fmt:", unchanged

  const FormatField* field(const char* wanted) const;
};

// Returns all formats that can be parsed; unparsable ones and duplicate IDs become findings.
std::vector<EventFormat> parse_event_formats(const std::vector<FormatText>& texts, Findings& findings);

// Returns the size of `commit` in events/header_page, the kernel's word size: 4 or 8. Throws Error.
unsigned long_bytes_of_header_page(const std::string& header_page);

}  // namespace kmt
