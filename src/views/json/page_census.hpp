// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "results/snapshot/page_census.hpp"
#include "views/common/snapshot_options.hpp"
#include "views/json/common.hpp"

namespace kmt {

Json json_page_census(const PageCensus& census, std::uint64_t page_size, const SnapshotOptions& options);

}  // namespace kmt
