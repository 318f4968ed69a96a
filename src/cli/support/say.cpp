// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/support/say.hpp"

#include "capture/features/kernel_symbols.hpp"

namespace kmt {

void say_lack_of_symbols() {
  say("note: /proc/kallsyms shows no addresses, so call sites will have no names: {}\n", kWayToAddresses);
}

}  // namespace kmt
