// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the direct map of an arm64 kernel. Its addresses are not in variables, but in the text that the kernel writes
// for crash dumps (arch_crash_save_vmcoreinfo() in arch/arm64 of Linux 6.1, 6.12 and 7.3).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kmt {

// Addresses that belong to page frame 0. This frame may not exist.
struct DirectMap {
  std::uint64_t page_offset = 0;  // its memory
  std::uint64_t vmemmap = 0;      // its struct page
};

// Empty if the text lacks a value. `page_bytes` is the size of struct page.
std::optional<DirectMap> arm64_direct_map(std::string_view vmcoreinfo, std::uint64_t page_size,
                                          std::uint64_t page_bytes);

}  // namespace kmt
