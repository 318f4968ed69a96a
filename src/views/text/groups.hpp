// SPDX-License-Identifier: GPL-2.0-or-later
// Writes tables of groups for any group keys.
#pragma once

#include <string>

#include "results/report/report.hpp"
#include "views/common/report_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Returns a heading, a table, and the frames of stacks if stacks are a key. At the end of the table, one line shows the
// groups left out and one line shows the sum.
std::string text_groups(const GroupTable& groups, const std::vector<GroupKey>& by, const ReportOptions& options,
                        const TextStyle& style);

// Returns the frames of the stacks, or an empty string if stacks are not a key. For a row whose stack is not shown,
// `rows` has a null pointer. `most_frames` is the maximum number of frames of each stack; 0 means all.
std::string stack_lines(const std::vector<GroupKey>& by, const std::vector<const GroupRow*>& rows,
                        const TextStyle& style, std::size_t most_frames = 0);

// Returns the value of a key as readable text. For a stack, this is the first frame.
std::string key_text(GroupKey key, const KeyValue& value, const TextStyle& style);

}  // namespace kmt
