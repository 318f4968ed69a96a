// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/parts/missing_part.hpp"
#include "cli/record/oom_page.hpp"

namespace kmt {

bool has_oom_page() { return false; }

std::string page_of_kill(const std::string&, const SnapshotResult*) {
  throw missing_part("write HTML reports", "npm", "HTML");
}

}  // namespace kmt
