// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/kernel_release.hpp"

#include <array>

#include <fmt/format.h>

#include "base/number.hpp"

namespace kmt {

std::optional<KernelVersion> version_of(std::string_view release) {
  KernelVersion version;
  const auto major = take_number<decltype(version.major)>(release);
  if (!major || !release.starts_with('.')) return std::nullopt;
  const auto minor = parse_leading<decltype(version.minor)>(release.substr(1));
  if (!minor) return std::nullopt;
  version.major = *major;
  version.minor = *minor;
  return version;
}

namespace {

bool has_reclaimable_first(std::string_view release) {
  return version_of(release).value_or(KernelVersion{4, 4}) < KernelVersion{4, 4};
}

}  // namespace

int movable_type(std::string_view release) { return has_reclaimable_first(release) ? 2 : 1; }
int reclaimable_type(std::string_view release) { return has_reclaimable_first(release) ? 1 : 2; }

std::string migrate_type_name(int type, std::string_view release) {
  using Names = std::array<const char*, 6>;
  static constexpr Names kNames = {"Unmovable", "Movable", "Reclaimable", "HighAtomic", "CMA/Isolate", "Isolate"};
  static constexpr Names kBefore4_4 = {"Unmovable", "Reclaimable", "Movable", "Reserve", "CMA/Isolate", "Isolate"};
  const Names& names = has_reclaimable_first(release) ? kBefore4_4 : kNames;
  if (type < 0 || static_cast<std::size_t>(type) >= names.size()) return fmt::format("type {}", type);
  return names[static_cast<std::size_t>(type)];
}

}  // namespace kmt
