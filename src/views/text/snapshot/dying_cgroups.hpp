// SPDX-License-Identifier: GPL-2.0-or-later
// Writes removed cgroups that still hold memory as text.
#pragma once

#include <string>
#include <vector>

#include "trace/tasks/pod_names.hpp"
#include "views/common/snapshot_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Empty if there are no such cgroups.
std::string text_dying_cgroups(const std::vector<DyingCgroups>& all, const PodNames& pods,
                               const SnapshotOptions& options, const TextStyle& style);

}  // namespace kmt
