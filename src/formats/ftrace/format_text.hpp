// SPDX-License-Identifier: GPL-2.0-or-later
// Writes descriptions of the events and pages that kmemtrace makes, in the form of the kernel's files.
#pragma once

#include <string>
#include <vector>

#include "formats/ftrace/event_format.hpp"
#include "trace/gfp_flags.hpp"

namespace kmt {

// A field after the common fields. A number has 1, 2, 4 or 8 bytes. A string or an array is a __data_loc of 4 bytes.
struct TextField {
  std::string name;
  unsigned bytes = 8;
  bool is_signed = false;
  bool is_text = false;
  unsigned element_bytes = 0;  // size of an element in bytes; 0 if the field is not an array
};

// Size of the fields at the start of every record: common_type, common_flags, common_preempt_count and common_pid.
constexpr unsigned kCommonBytes = 8;

// Returns the offset of each field in the record, followed by the size of the record.
std::vector<unsigned> offsets_of(const std::vector<TextField>& fields);

// Returns the text of events/SYSTEM/NAME/format. `gfp_flags` is printed with these flag names, or as a number if the
// list is empty.
std::string format_text(const std::string& name, unsigned id, const std::vector<TextField>& fields,
                        const std::vector<FlagName>& gfp_flags);
// Returns events/ftrace/kernel_stack/format: a `long` with the number of addresses, then the addresses up to the
// record's end.
FormatText describe_kernel_stack(unsigned id, unsigned long_bytes);
// Returns events/ftrace/user_stack/format: a process ID, then addresses up to the first 0 or the record's end.
FormatText describe_user_stack(unsigned id, unsigned long_bytes);
// Return the texts of events/header_page and events/header_event.
std::string header_page_text(unsigned long_bytes, unsigned page_bytes);
std::string header_event_text();

}  // namespace kmt
