// SPDX-License-Identifier: GPL-2.0-or-later
// Removes what logs write before the text of a message: times, levels, hosts and callers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "snapshot/log/kernel_log.hpp"

namespace kmt {

struct PrefixedLine {
  LogMessage message;
  std::optional<std::uint64_t> delta_ns;  // time since the previous message, if the line has no other time
  bool is_record = false;                 // true: a record of /dev/kmsg; lines with its properties may follow
};

PrefixedLine without_prefix(std::string_view line);

}  // namespace kmt
