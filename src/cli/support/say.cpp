// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/say.hpp"

#include <unistd.h>

#include "capture/features/kernel_symbols.hpp"

namespace kmt {

void say_text(std::string_view text) {
  constexpr int kAttempts = 3;
  for (int failures = 0; failures < kAttempts && !text.empty();) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written > 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else
      ++failures;
  }
}

void say_lack_of_symbols() {
  say("note: /proc/kallsyms shows no addresses, so call sites will have no names: {}\n", kWayToAddresses);
}

}  // namespace kmt
