// SPDX-License-Identifier: GPL-2.0-or-later
// Facts that depend on the kernel's version.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace kmt {

struct KernelVersion {
  unsigned major = 0;
  unsigned minor = 0;
  // clang-tidy warns here: it mistakes the zero in the generated comparison for a pointer.
  auto operator<=>(const KernelVersion&) const = default;  // NOLINT(modernize-use-nullptr)
};

// Returns the version of a release like "6.1.0-47-amd64"; empty if the text has none.
std::optional<KernelVersion> version_of(std::string_view release);

// Returns the name of a migrate type, as in /proc/pagetypeinfo (migratetype_names in mm/vmstat.c, enum migratetype in
// include/linux/mmzone.h). Linux 4.4 swapped Movable and Reclaimable, and renamed Reserve to HighAtomic. Type 4 is CMA
// if the kernel is configured with CMA, otherwise Isolate. If the release is unknown, the names of the latest kernel
// are used. An unknown type has a name such as "type 7".
std::string migrate_type_name(int type, std::string_view release);
int movable_type(std::string_view release);      // returns the number of the migrate type Movable
int reclaimable_type(std::string_view release);  // returns the number of the migrate type Reclaimable

}  // namespace kmt
