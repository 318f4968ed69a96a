// SPDX-License-Identifier: GPL-2.0-or-later
// --tree of the commands that group by processes.
#pragma once

#include <algorithm>

#include "analysis/report/report.hpp"
#include "base/error.hpp"
#include "cli/support/options.hpp"

namespace kmt {

inline void add_tree_option(Command& command, bool& tree) {
  command.flag("--tree", &tree,
               "With --by process: count child processes as part of their parent\nThe parent is the process that ran "
               "when the trace began: make, not the compilers that it starts.");
}

// For the requested keys. Throws Error if none is a process.
inline void set_tree(ReportRequest& request, bool tree) {
  request.tree = tree;
  if (tree && std::ranges::find(request.by, GroupKey::process) == request.by.end())
    throw Error("--tree needs the key process: --by process");
}

}  // namespace kmt
