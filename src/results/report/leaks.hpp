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
  too_short,  // too few values, or less than a second since the first allocation
  no_growth,  // the growth is not larger than that of random allocations and frees
  past,       // grew in the first half of the time, but hardly in the second half
  // Grows, but consists of reclaimable memory, page tables, or pages whose objects are counted too.
  explained,
  unsure,     // grows, but perhaps not above the threshold, or only in a few steps
  uneven,     // grows above the threshold, but in a report with so many groups this could be chance
  uncertain,  // grows above the threshold, but the memory that grows may have been freed
  certain,    // grows above the threshold even without the memory that may have been freed
};
struct LeakVerdictText {
  std::string_view id;
  std::string_view sentence;
};
const LeakVerdictText& describe(LeakVerdict verdict);
std::vector<LeakVerdictText> leak_verdicts();  // returns all verdicts, the most certain growth first

// The reason why a trace without certain growth cannot exclude growth.
enum class LeaksUnclear : std::uint8_t {
  none,
  no_clock,     // the trace's clock does not count nanoseconds
  too_short,    // no group could be judged
  no_events,    // the trace has no events, or the filters select none
  mostly_lost,  // the trace lost more events than it has
  no_stacks,    // memory is grouped only by stack, but the trace has no stacks
  // Events are missing: a part of the file is missing, or memory grows whose frees may be among the missing events.
  missing_events,
};
std::string_view id_of(LeaksUnclear unclear);
// True if the only key is the stack, but the trace has no stacks.
bool lacks_stacks(const std::vector<GroupKey>& by, const TraceSummary& trace);

struct LeakRow {
  GroupRow group;  // GroupRow::history is set
  Trend trend;     // trend of the live bytes since the first allocation of the group
  Trend certain;   // trend without doubtful allocations, which count as freed immediately
  LeakVerdict verdict = LeakVerdict::too_short;
  LiveCount doubtful;
  std::size_t steps = 0;            // if the verdict is unsure because live bytes rose only in steps: their number
  std::optional<Doubt> main_doubt;  // reason why most of the doubtful bytes may have been freed
  // Returns the median age of live allocations. It may be up to 25 % too high.
  std::uint64_t median_age_ns() const {
    return std::min(group.history->ages.percentile_ns(50), group.history->oldest_ns);
  }
  std::uint64_t certain_bytes() const {
    return group.live_bytes > doubtful.bytes ? group.live_bytes - doubtful.bytes : 0;
  }
};

// Returns the growth to which the verdict refers.
inline const Trend& judged_trend(const LeakRow& row) {
  return row.verdict == LeakVerdict::certain ? row.certain : row.trend;
}

// True if the whole confidence interval of the growth is near its estimate. A random walk that happened to rise has a
// much wider interval.
inline bool grows_steadily(const LeakRow& row) {
  const Trend& trend = judged_trend(row);
  return 2 * trend.low >= trend.bytes_per_s;
}

// True if `a` is named before `b`. Steady growth is named before random swings, and equally steady growth by its rate,
// the fastest first.
inline bool is_named_before(const LeakRow& a, const LeakRow& b) {
  if (grows_steadily(a) != grows_steadily(b)) return grows_steadily(a);
  return judged_trend(a).bytes_per_s > judged_trend(b).bytes_per_s;
}

// A process that holds live memory in groups with the worst verdict.
struct LeakHolder {
  TaskName process;
  std::uint64_t bytes = 0;
  std::size_t groups = 0;
};

// A process that allocated memory in groups with the worst verdict, or many processes of one name.
struct LeakSource {
  TaskName process;           // if there are many processes, only the name is set
  std::size_t processes = 1;  // number of processes of this name in the group that has most of them
  std::uint64_t bytes = 0;
};

// Groups whose growth has one cause: most of their memory was allocated by one process, or by processes of one name.
struct LeakCause {
  LeakSource source;  // without a name if the processes are unknown; `bytes` are those of the groups
  std::size_t groups = 0;
  double bytes_per_s = 0;  // sum over all groups
  // Index of the fastest growing group's table in LeaksResult::tables, and index of the group in the rows of this
  // table.
  std::size_t table = 0;
  std::size_t row = 0;
};

struct LeakTable {
  Allocator allocator = Allocator::slab;
  bool whole = false;             // true: one row for the whole allocator, because no key of the report applies to it
  std::vector<LeakRow> rows;      // groups with live allocations, unsorted
  std::uint64_t older_frees = 0;  // number of frees of objects allocated before the trace
};

struct LeaksResult {
  TraceSummary trace;
  std::vector<GroupKey> by;
  double threshold_bytes_per_s = 0;
  double confidence_needed = 0;          // confidence (0 to 1) required for certain growth; higher if more groups are
                                         // tested
  std::size_t judged = 0;                // number of groups tested for growth
  std::size_t groups_not_followed = 0;   // number of groups that were not tested but may also grow
  std::uint64_t bytes_not_followed = 0;  // live bytes of the groups that were not tested
  TimeAxis axis;
  std::uint64_t lost_until_ns = 0;
  std::uint64_t events = 0;  // number of events within --time, including events that the filters exclude
  std::vector<Imperfection> incomplete;
  std::optional<std::uint64_t> cut_at_ns;  // Histories::cut_at_ns
  std::vector<LeakTable> tables;
  // Number of slab objects at the start of the trace, if its samples contain it.
  std::optional<std::uint64_t> older_lived;
  std::vector<std::pair<std::string, std::uint64_t>> anomalies;
  ExplainedAnomalies explained;  // the part of `anomalies` with a known cause
  Findings findings;

  LeakVerdict worst = LeakVerdict::no_clock;  // verdict of the row whose growth is most certain
  // The next three members describe the groups with this verdict whose processes are known. They are empty if nothing
  // grows.
  std::size_t worst_groups = 0;
  std::uint64_t worst_bytes = 0;    // live bytes of these groups
  std::vector<LeakHolder> holders;  // processes that hold these bytes, the largest first
  std::vector<LeakSource> sources;  // the same, but with one element for many processes of one name
  // The causes of all groups with this verdict, those with steady growth first, and equally steady ones by their rate.
  // Empty if nothing grows.
  std::vector<LeakCause> causes;

  const LeakRow& fastest_of(const LeakCause& cause) const { return tables[cause.table].rows[cause.row]; }

  bool found() const;  // true if any growth is certain
  LeaksUnclear unclear() const;
};

std::span<const Column<LeakRow>> leak_columns();
const Column<LeakRow>* find_leak_column(std::string_view key);
// Returns the rows in descending order of a column; rows without a value are last. Equal rows are sorted by live bytes,
// then by name. If the column is the verdict, the most certain growth is first. Groups with the same verdict have the
// order of is_named_before(); below `uneven`, they are sorted by growth. For certain growth, only the certain part of
// the rate counts.
std::vector<const LeakRow*> sorted_leaks(const std::vector<LeakRow>& rows, const Column<LeakRow>& by);

}  // namespace kmt
