// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "results/snapshot/snapshot.hpp"
#include "views/common/snapshot_options.hpp"
#include "views/text/style.hpp"

namespace kmt {

// Returns the owners of unaccounted memory as text. Empty if the snapshot does not contain owners.
std::string text_owners(const SnapshotResult& result, const SnapshotOptions& options, const TextStyle& style);

}  // namespace kmt
