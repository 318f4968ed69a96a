// SPDX-License-Identifier: GPL-2.0-or-later
// Collects who owns kernel memory that no counter has.
#pragma once

#include <string>
#include <vector>

#include "trace/state/kernel_memory.hpp"

namespace kmt {

struct CollectedOwners {
  std::string text;                    // lines for parse_owners()
  std::vector<MissingSource> missing;  // "owners" if the text is incomplete
};

// Asks the running kernel. Stops after three seconds, and then states what is missing.
CollectedOwners collect_owners();
// Reads copies of files of tracefs and debugfs in a folder. All other owners are unknown there.
CollectedOwners collect_owners_from(const std::string& folder);

}  // namespace kmt
