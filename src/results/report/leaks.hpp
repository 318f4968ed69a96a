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
  no_growth,  // random allocations and frees could cause the same growth
  past,       // grew, but later at less than half the rate, or hardly at all in the last quarter
  // Grows, but consists of reclaimable memory, page tables, or pages whose objects are counted too.
  explained,
  unsure,     // grows, but perhaps more slowly than the threshold, or only in a few steps
  uneven,     // grows above the threshold, but among so many groups this could be chance
  uncertain,  // grows above the threshold, but the memory that grows may have been freed
  certain,    // grows above the threshold even without the memory that may have been freed
};
struct LeakVerdictText {
  std::string_view id;
  std::string_view sentence;
};
const LeakVerdictText& describe(LeakVerdict verdict);
std::vector<LeakVerdictText> leak_verdicts();  // returns all verdicts, the most certain growth first

// The reason why growth cannot be excluded, although no growth is certain.
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
// True if groups have the stack as their only key, but the trace has no stacks.
bool lacks_stacks(const std::vector<GroupKey>& by, const TraceSummary& trace);

struct LeakRow {
  GroupRow group;  // GroupRow::history is always set
  Trend trend;     // trend of the live bytes since the first allocation of the group
  Trend certain;   // trend of live bytes if doubtful allocations count as freed immediately
  LeakVerdict verdict = LeakVerdict::too_short;
  LiveCount doubtful;
  std::size_t steps = 0;            // number of steps, if the verdict is unsure because live bytes rose only in steps
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

// True if the whole confidence interval of the growth is close to the estimate. A random walk that rose by chance has a
// much wider interval.
inline bool grows_steadily(const LeakRow& row) {
  const Trend& trend = judged_trend(row);
  return 2 * trend.low >= trend.bytes_per_s;
}

// True if text output names `a` before `b`. Steady growth comes before random swings. Equally steady growth is sorted
// by rate, the fastest first.
inline bool is_named_before(const LeakRow& a, const LeakRow& b) {
  if (grows_steadily(a) != grows_steadily(b)) return grows_steadily(a);
  return judged_trend(a).bytes_per_s > judged_trend(b).bytes_per_s;
}

// A process that holds live memory in groups with the most certain growth.
struct LeakHolder {
  TaskName process;
  std::uint64_t bytes = 0;
  std::size_t groups = 0;
};

// A process, or many processes of equal name, that allocated memory in groups with the most certain growth.
struct LeakSource {
  TaskName process;  // if there are many processes, only the name is set
  // Largest number of processes of this name in one group.
  std::size_t processes = 1;
  std::uint64_t bytes = 0;
};

// Groups whose growth has one cause: most of their memory was allocated by one process, or by processes of equal name.
struct LeakCause {
  // The process or processes. If they are unknown, the name is empty, and `bytes` is the sum of the groups.
  LeakSource source;
  std::size_t groups = 0;
  double bytes_per_s = 0;  // growth in bytes per second, summed over all groups
  // The fastest growing group: index of its table in LeaksResult::tables, and its index in the rows of this table.
  std::size_t table = 0;
  std::size_t row = 0;
};

struct LeakTable {
  Allocator allocator = Allocator::slab;
  // True: the table has one row for the whole allocator, because no key of the report applies to it.
  bool whole = false;
  std::vector<LeakRow> rows;      // groups with live allocations, unsorted
  std::uint64_t older_frees = 0;  // number of frees of objects that were allocated before the trace
};

struct LeaksResult {
  TraceSummary trace;
  std::vector<GroupKey> by;
  double threshold_bytes_per_s = 0;
  double confidence_needed = 0;          // confidence (0 to 1) required for certain growth; higher if more groups are
                                         // tested
  std::size_t judged = 0;                // number of groups tested for growth
  std::size_t groups_not_followed = 0;   // number of groups that may also grow, but were not tested
  std::uint64_t bytes_not_followed = 0;  // live bytes of the groups that were not tested
  TimeAxis axis;
  std::uint64_t lost_until_ns = 0;
  std::uint64_t events = 0;  // number of events within --time, including events that the filters exclude
  std::vector<Imperfection> incomplete;
  std::optional<std::uint64_t> cut_at_ns;  // like Histories::cut_at_ns
  std::vector<LeakTable> tables;
  // Number of slab objects at the start of the trace, if its samples contain it.
  std::optional<std::uint64_t> older_lived;
  std::vector<std::pair<std::string, std::uint64_t>> anomalies;
  ExplainedAnomalies explained;  // those `anomalies` whose cause is known
  Findings findings;

  LeakVerdict worst = LeakVerdict::no_clock;  // verdict of the row whose growth is most certain
  // The next four members describe the groups that have the verdict `worst` and known processes. They are 0 or empty if
  // nothing grows.
  std::size_t worst_groups = 0;
  std::uint64_t worst_bytes = 0;    // live bytes of these groups
  std::vector<LeakHolder> holders;  // processes that hold these bytes, the largest first
  std::vector<LeakSource> sources;  // the same processes, but processes of equal name share one element
  // The causes of all groups with the verdict `worst`. Causes with steady growth are first; equally steady causes are
  // sorted by rate. Empty if nothing grows.
  std::vector<LeakCause> causes;

  const LeakRow& fastest_of(const LeakCause& cause) const { return tables[cause.table].rows[cause.row]; }

  bool found() const;  // true if any growth is certain
  LeaksUnclear unclear() const;
};

std::span<const Column<LeakRow>> leak_columns();
const Column<LeakRow>* find_leak_column(std::string_view key);
// Returns the rows in descending order of a column; rows without a value are last. Equal rows are sorted by live bytes,
// then by name. If the column is the verdict, the most certain growth is first. Rows with the same verdict have the
// order of is_named_before(). If the verdict is less certain than `uneven`, they are sorted by growth instead. For
// certain growth, only the certain part of the rate is used for sorting.
std::vector<const LeakRow*> sorted_leaks(const std::vector<LeakRow>& rows, const Column<LeakRow>& by);

}  // namespace kmt
