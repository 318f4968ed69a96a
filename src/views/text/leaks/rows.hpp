// SPDX-License-Identifier: GPL-2.0-or-later
// Selects and names the groups that `leaks` shows.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "results/report/leaks.hpp"
#include "views/common/leaks_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

// How much of the tables is shown.
struct LeaksExtent {
  std::size_t growing;  // number of growing groups per allocator
  std::size_t others;   // number of groups per allocator, if none grows
  std::size_t stacks;   // number of stacks, if only those of growing groups are shown
  std::size_t frames;   // number of frames per stack; 0: all
};
inline constexpr std::size_t kAllLeaks = std::numeric_limits<std::size_t>::max();
inline constexpr LeaksExtent kWholeLeaks = {kAllLeaks, kAllLeaks, kAllLeaks, 0};

using LeakRows = std::vector<const LeakRow*>;

bool is_growing(const LeakRow& row);
bool any_is_growing(const LeaksResult& result);
std::size_t count_growing(const LeakTable& table);
// Returns the rows to show, in order.
LeakRows shown_leaks(const LeakTable& table, const LeaksResult& result, const LeaksOptions& options,
                     const LeaksExtent& extent);
// Returns the rows of all tables whose stacks are shown, the most certain and fastest growth first.
LeakRows leaks_with_stacks(const LeaksResult& result, const LeaksOptions& options, const LeaksExtent& extent);

// True if the key is a stack whose frames are shown after the table, while the table has only the number of the stack.
// This needs the caller as another key, which names the row.
bool frames_follow(const std::vector<GroupKey>& by, GroupKey key);
// Returns the process with most live bytes and the number of other processes: "make (pid 7), 3 more". If there are many
// processes with the same name, and together they hold much more memory, returns this name and their number. Returns
// "-" if the processes are unknown.
std::string leak_processes(const LeakRow& row, const TextStyle& style);
// True if the module, subsystem or directory of the group is unknown, because the trace does not show which code
// allocated the memory.
bool is_of_unknown_code(const LeakRow& row, const std::vector<GroupKey>& by);
// Returns the keys and the allocator of a group: "alloc_pipe_info+0xd7 (slab)".
std::string name_of_leak(const LeakRow& row, const std::vector<GroupKey>& by, const TextStyle& style);

}  // namespace kmt
