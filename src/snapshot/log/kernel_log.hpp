// SPDX-License-Identifier: GPL-2.0-or-later
// Splits copies of the kernel's log into messages. Understands the output of dmesg and journalctl, records of
// /dev/kmsg, files of syslog, serial consoles, logs of containers, tables, and logs quoted in mail.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace kmt {

struct LogMessage {
  std::string_view text;                 // the message without time, host name and log level
  std::string_view caller;               // the task or CPU that printed the message ("T100", "C1"); may be empty
  std::string_view host;                 // name of the machine, if the log has it
  unsigned quotes = 0;                   // how often mails quoted the line: the number of ">" before it
  std::optional<std::uint64_t> boot_ns;  // time since boot
  std::optional<std::uint64_t> wall_ns;  // wall-clock time; the year is 2000 if `has_year` is false
  bool has_year = true;
  bool has_zone = true;  // false: `wall_ns` is in the machine's time zone, which is unknown
};

// Calls take() for each message. A message of several lines becomes several messages. The texts are valid during the
// call.
void each_log_message(std::string_view log, const std::function<void(const LogMessage&)>& take);

}  // namespace kmt
