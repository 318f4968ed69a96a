// SPDX-License-Identifier: GPL-2.0-or-later
// Prints messages on stderr.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace kmt {

// Writes a text to stderr. If a write fails, tries several times, because messages are most important when system calls
// fail. A failing stderr does not stop a recording.
void say_text(std::string_view text);

template <typename... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  say_text(fmt::format(format, std::forward<Values>(values)...));
}

// Prints a note that /proc/kallsyms shows no addresses, and says how to change this.
void say_lack_of_symbols();

}  // namespace kmt
