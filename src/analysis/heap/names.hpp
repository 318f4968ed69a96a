// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the names by which samples and call sites of the running kernel are grouped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/state/heap_sample.hpp"

namespace kmt {

// Name of the row that replaces merged rows when there would be too many.
inline constexpr const char* kOthers = "[others]";
inline constexpr const char* kUnknownCode = "unknown";  // name used if the call site, module or directory is unknown

// Returns the task name, such as "bash". Returns "[softirq]" for allocations by an interrupt.
std::string task_text(AllocationContext context, std::string_view comm);
// Returns the process name and ID, such as "bash-812". Returns "[softirq]" for interrupts, because they belong to no
// process.
std::string process_text(AllocationContext context, std::string_view comm, std::uint32_t process);
// Returns the name of a cache: "dentry", "pages of 16.0 KiB", or "kmalloc, 96 B" if only the size is known.
std::string cache_text(std::string_view cache, bool pages, std::uint64_t bytes);
// Returns the module of a function, like module_of(). Returns "unknown" if the function has no name.
std::string module_name(std::string_view symbol);

}  // namespace kmt
