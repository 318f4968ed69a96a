// SPDX-License-Identifier: GPL-2.0-or-later
// Diagnostics on stderr.
#pragma once

#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace kmt {

// An unreadable stderr does not stop a recording: failures are ignored.
template <typename... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  std::fputs(fmt::format(format, std::forward<Values>(values)...).c_str(), stderr);
}

// Notes that /proc/kallsyms shows no addresses, and how to change that.
void say_lack_of_symbols();

}  // namespace kmt
