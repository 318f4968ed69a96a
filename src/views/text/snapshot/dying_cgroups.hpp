// SPDX-License-Identifier: GPL-2.0-or-later
// Writes removed cgroups that still hold memory as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/tasks/pod_names.hpp"
#include "views/common/snapshot_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Returns a heading such as "vmalloc by caller, 10 of 42".
std::string counted_heading(std::string_view what, std::size_t shown, std::size_t total, const TextStyle& style);
std::string bytes_or_unknown(const std::optional<std::uint64_t>& bytes, const TextStyle& style);
// Empty if there are no such cgroups.
std::string text_dying_cgroups(const std::vector<DyingCgroups>& all, const PodNames& pods,
                               const SnapshotOptions& options, const TextStyle& style);

}  // namespace kmt
