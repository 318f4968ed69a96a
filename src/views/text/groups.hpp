// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of groups, for any group keys.
#pragma once

#include <string>

#include "results/report/report.hpp"
#include "views/common/report_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Returns a heading, a table, and the frames of stack keys. The table ends with one line for the groups left out and
// one for the sum.
std::string text_groups(const GroupTable& groups, const std::vector<GroupKey>& by, const ReportOptions& options,
                        const TextStyle& style);

// Returns the frames of stack keys, or an empty string if stacks are not a key. A null pointer stands for a row whose
// stack is not shown. `most_frames`: of each stack; 0: all.
std::string stack_lines(const std::vector<GroupKey>& by, const std::vector<const GroupRow*>& rows,
                        const TextStyle& style, std::size_t most_frames = 0);

// Returns a readable text for the value of a key. A stack is shown as its first frame.
std::string key_text(GroupKey key, const KeyValue& value, const TextStyle& style);

}  // namespace kmt
