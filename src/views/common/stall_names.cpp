// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/common/stall_names.hpp"

#include <array>

namespace kmt {

namespace {

struct StallName {
  std::string_view name;
  std::string_view key;
};
constexpr std::array<StallName, kWaitKinds> kWaitNames = {{
    {"direct reclaim", "direct_reclaim"},
    {"cgroup reclaim", "cgroup_reclaim"},
    {"node reclaim", "node_reclaim"},
    {"compaction", "compaction"},
    {"throttled", "throttled"},
}};
constexpr std::array<StallName, 5> kScannerNames = {{
    {"direct reclaim", "direct_reclaim"},
    {"cgroup reclaim", "cgroup_reclaim"},
    {"node reclaim", "node_reclaim"},
    {"kswapd", "kswapd"},
    {"other", "other"},
}};

}  // namespace

std::string_view name_of(StallKind kind) { return kWaitNames.at(static_cast<std::size_t>(kind)).name; }
std::string_view key_of(StallKind kind) { return kWaitNames.at(static_cast<std::size_t>(kind)).key; }
std::string_view name_of(Scanner scanner) { return kScannerNames.at(static_cast<std::size_t>(scanner)).name; }
std::string_view key_of(Scanner scanner) { return kScannerNames.at(static_cast<std::size_t>(scanner)).key; }

}  // namespace kmt
