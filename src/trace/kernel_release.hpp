// SPDX-License-Identifier: GPL-2.0-or-later
// Facts that follow from a kernel's version.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace kmt {

struct KernelVersion {
  unsigned major = 0;
  unsigned minor = 0;
  // clang-tidy takes the zero that the compiler compares with for a pointer.
  auto operator<=>(const KernelVersion&) const = default;  // NOLINT(modernize-use-nullptr)
};

// The version of a release like "6.1.0-47-amd64"; empty if the text has none.
std::optional<KernelVersion> version_of(std::string_view release);

// The name of a migrate type as /proc/pagetypeinfo has it (migratetype_names in mm/vmstat.c, enum migratetype in
// include/linux/mmzone.h): Linux 4.4 swapped Movable and Reclaimable, and Reserve became HighAtomic. Type 4 is CMA in a
// kernel that is configured with it, else Isolate. An unknown release counts as new; "type 7" for what no kernel has.
std::string migrate_type_name(int type, std::string_view release);

}  // namespace kmt
