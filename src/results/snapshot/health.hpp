// SPDX-License-Identifier: GPL-2.0-or-later
// Health checks of kernel memory. Each check compares one number of a snapshot with two limits. Healthy machines have
// values below the limits, so a warning is a reason to look, not a proof of a fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kmt {

enum class HealthTopic : std::uint8_t {
  available,
  unreclaimable_slab,
  kmalloc,
  empty_slabs,
  slab_padding,
  page_tables,
  kernel_stacks,
  percpu,
  vmalloc_caller,
  sockets,
  dying_cgroups,
  unaccounted,
  fragmentation,
  min_free,
  hugetlb,
  balloon,
  corrupted,
  polluted_blocks,
  pressure,
};

enum class HealthUnit : std::uint8_t { share, count, bytes };

// The definition of a check. Shares are between 0 and 1.
struct HealthLimits {
  HealthTopic topic;
  std::string_view id;
  std::string_view label;  // "unreclaimable slab memory, of all memory"
  HealthUnit unit;
  double warn;
  double bad;
  std::string_view reason;  // why a value beyond the limits matters, and what to do
  bool low_is_bad = false;  // true: values below the limits are bad
};
std::span<const HealthLimits> health_limits();  // in the order of HealthTopic
const HealthLimits& limits_of(HealthTopic topic);

enum class Health : std::uint8_t { ok, warn, bad, unknown };
std::string_view name_of(Health health);

struct HealthCheck {
  HealthTopic topic = HealthTopic::available;
  std::optional<double> value;  // empty: the snapshot lacks the files for this check
  // Bytes of the share in `value`; empty if the value is no share, or if the bytes are unknown.
  std::optional<std::uint64_t> bytes;
  std::string subject;  // the largest caller or cgroup, or the lines whose amounts are unknown; empty: none
  Health health = Health::unknown;
};

// True if the check is warn or bad.
inline bool is_unhealthy(const HealthCheck& check) {
  return check.health == Health::warn || check.health == Health::bad;
}
// Returns the number of checks with this result.
std::size_t count_of(const std::vector<HealthCheck>& checks, Health health);

}  // namespace kmt
