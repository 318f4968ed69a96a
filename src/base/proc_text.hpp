// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kmt {

struct ProcValue {
  std::uint64_t value = 0;
  bool in_bytes = false;  // the text has kB; the value is in bytes then
};

// The number that a text as /proc/meminfo or /proc/vmstat gives a name in a line of its own: "Slab:   96564 kB",
// "pgfault 17". Empty optional when no line does.
std::optional<ProcValue> find_proc_value(std::string_view text, std::string_view name);

}  // namespace kmt
