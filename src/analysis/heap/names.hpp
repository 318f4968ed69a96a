// SPDX-License-Identifier: GPL-2.0-or-later
// The words by which samples and sites of the running kernel are grouped, the same for both.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/state/heap_sample.hpp"

namespace kmt {

// The row of everything that is merged because there are too many rows.
inline constexpr const char* kOthers = "[others]";

// "bash", or "[softirq]" for what an interrupt allocates.
std::string task_text(AllocationContext context, std::string_view comm);
// "bash-812"; an interrupt is no process.
std::string process_text(AllocationContext context, std::string_view comm, std::uint32_t process);
// "dentry"; "kmalloc, 96 B" where only the size given is known; "pages of 16.0 KiB".
std::string cache_text(std::string_view cache, bool pages, std::uint64_t bytes);

}  // namespace kmt
