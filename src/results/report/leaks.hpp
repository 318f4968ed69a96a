// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `leaks`: memory that is live at the end of a trace, and its growth. docs/formats/leaks-json.md has the
// definitions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/columns.hpp"
#include "results/report/report.hpp"
#include "results/series/trend.hpp"

namespace kmt {

enum class LeakVerdict : std::uint8_t {
  no_clock,   // the trace's clock does not count nanoseconds
  too_short,  // too few values or less than a second since the first allocation
  no_growth,  // not more growth than random allocations and frees can cause
  past,       // grew, but hardly in the second half of the time
  explained,  // grows above the threshold, but with reclaimable memory, page tables, or pages of counted objects
  unsure,     // grows, but perhaps not above the threshold
  uneven,     // grows above the threshold, but with this number of groups that could be chance
  uncertain,  // grows above the threshold, but the growing memory may already be freed
  certain,    // grows above the threshold, even if only certainly live memory counts
};
struct LeakVerdictText {
  std::string_view id;
  std::string_view sentence;
};
const LeakVerdictText& describe(LeakVerdict verdict);
std::vector<LeakVerdictText> leak_verdicts();  // most certain growth first

// The reason why a trace without certain growth cannot exclude growth.
enum class LeaksUnclear : std::uint8_t {
  none,
  no_clock,     // the trace's clock does not count nanoseconds
  too_short,    // no group could be judged
  mostly_lost,  // the trace lost more events than it has
};
std::string_view id_of(LeaksUnclear unclear);

struct LeakRow {
  GroupRow group;  // its `history` is set
  Trend trend;     // trend of the live bytes since the first allocation of the group
  Trend certain;   // trend without doubtful allocations, which count as freed immediately
  LeakVerdict verdict = LeakVerdict::too_short;
  LiveCount doubtful;
  std::optional<Doubt> main_doubt;  // reason for most of the doubtful bytes
  // Returns the median age, which may be up to 25 % too high.
  std::uint64_t median_age_ns() const {
    return std::min(group.history->ages.percentile_ns(50), group.history->oldest_ns);
  }
  std::uint64_t certain_bytes() const {
    return group.live_bytes > doubtful.bytes ? group.live_bytes - doubtful.bytes : 0;
  }
};

// A process with live memory of groups that have the same verdict.
struct LeakHolder {
  TaskName process;
  std::uint64_t bytes = 0;
  std::size_t groups = 0;
};

struct LeakTable {
  Allocator allocator = Allocator::slab;
  bool whole = false;             // true: only one row, for the whole allocator, because no key applies to it
  std::vector<LeakRow> rows;      // groups with live allocations, unsorted
  std::uint64_t older_frees = 0;  // frees of objects allocated before the trace
};

struct LeaksResult {
  TraceSummary trace;
  std::vector<GroupKey> by;
  double threshold_bytes_per_s = 0;
  double confidence_needed = 0;  // confidence required for certain growth; increases with the number of judged groups
  std::size_t judged = 0;        // number of judged groups
  std::size_t groups_not_followed = 0;   // number of groups that were not judged but may also grow
  std::uint64_t bytes_not_followed = 0;  // live bytes of these groups
  TimeAxis axis;
  std::uint64_t lost_until_ns = 0;
  std::uint64_t events = 0;  // of the trace within --time, selected or not
  std::vector<Imperfection> incomplete;
  std::vector<LeakTable> tables;
  std::optional<std::uint64_t> older_lived;  // slab objects at the start of the trace, if known from its samples
  std::vector<std::pair<std::string, std::uint64_t>> anomalies;
  Findings findings;

  LeakVerdict worst = LeakVerdict::no_clock;  // verdict of the most certain growth
  // These three count groups with this verdict, if they grow and their processes are known.
  std::size_t worst_groups = 0;
  std::uint64_t worst_bytes = 0;    // live bytes of these groups
  std::vector<LeakHolder> holders;  // processes that hold these bytes, the largest first

  bool found() const;  // true if any growth is certain
  LeaksUnclear unclear() const;
};

std::span<const Column<LeakRow>> leak_columns();
const Column<LeakRow>* find_leak_column(std::string_view key);
// Returns the rows in descending order, rows without a value last. Equal rows are sorted by live bytes, then by name.
// By verdict, the most certain growth is first, then the fastest growth. For certain growth, only the certain part
// counts.
std::vector<const LeakRow*> sorted_leaks(const std::vector<LeakRow>& rows, const Column<LeakRow>& by);

}  // namespace kmt
