// SPDX-License-Identifier: GPL-2.0-or-later
// Descriptions of events and pages, as the kernel's own files have them, for records that no kernel wrote.
#pragma once

#include <string>
#include <vector>

#include "formats/ftrace/event_format.hpp"
#include "trace/gfp_flags.hpp"

namespace kmt {

// A field of 1, 2, 4 or 8 bytes behind the common ones; a text or an array is 4 bytes that say where it is
// (__data_loc).
struct TextField {
  std::string name;
  unsigned bytes = 8;
  bool is_signed = false;
  bool is_text = false;
  unsigned element_bytes = 0;  // of an array's elements; 0: it is none
};

// What is in front of every record's fields: common_type, common_flags, common_preempt_count, common_pid.
constexpr unsigned kCommonBytes = 8;

// The offset of each field, and behind them the bytes of all.
std::vector<unsigned> offsets_of(const std::vector<TextField>& fields);

// events/SYSTEM/NAME/format. The flags are those of a field `gfp_flags`; none: it is printed as a number.
std::string format_text(const std::string& name, unsigned id, const std::vector<TextField>& fields,
                        const std::vector<FlagName>& gfp_flags);
// events/ftrace/kernel_stack/format: how many addresses, a `long`, and the addresses up to the end of the record.
FormatText describe_kernel_stack(unsigned id, unsigned long_bytes);
// The same of user_stack, with a process in front, and addresses up to the first 0 or the end of the record.
FormatText describe_user_stack(unsigned id, unsigned long_bytes);
// events/header_page and events/header_event.
std::string header_page_text(unsigned long_bytes, unsigned page_bytes);
std::string header_event_text();

}  // namespace kmt
