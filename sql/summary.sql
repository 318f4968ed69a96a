-- SPDX-License-Identifier: GPL-2.0-or-later
-- Summary of a selection of traces: one row. A trace is in this table only when all of it was loaded.
-- {recorded}: how much of a trace, in nanoseconds.
SELECT count(), uniqExact(host), arraySort(groupUniqArray(kernel)), sum({recorded}), sum(events), sum(lost_events),
  toUInt32(min(began)), toUInt32(max(began)),
  countIf(may_lack_frees OR notEmpty(lacks_frees_of))
FROM (SELECT trace, host, kernel, recorded_ns, events, lost_events, began, may_lack_frees, lacks_frees_of
      FROM {database}.traces WHERE {traces} LIMIT 1 BY trace)
