// SPDX-License-Identifier: GPL-2.0-or-later
// The option --tree, for commands that can group by processes.
#pragma once

#include <algorithm>

#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "cli/support/options.hpp"

namespace kmt {

inline void add_tree_option(Command& command, bool& tree) {
  command.flag(
      "--tree", &tree,
      "With --by process: count child processes as part of their parent\nThe parent is the process that already ran "
      "when the trace began. For example, compilers are counted for the make process that started them.");
}

// Sets `request.tree`. Throws Error if `tree` is set but the keys do not include a process.
inline void set_tree(ReportRequest& request, bool tree) {
  request.tree = tree;
  if (tree && std::ranges::find(request.by, GroupKey::process) == request.by.end())
    throw Error("--tree needs the key process: --by process");
}

}  // namespace kmt
