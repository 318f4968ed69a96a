-- SPDX-License-Identifier: GPL-2.0-or-later
-- Returns one row: the summary of the selected traces. The table `traces` contains a trace only after all of its data
-- was loaded. {recorded} is an expression for the recorded time of a trace in nanoseconds.
SELECT count(), uniqExact(host), arraySort(groupUniqArray(kernel)), sum({recorded}), sum(events), sum(lost_events),
  toUInt32(min(began)), toUInt32(max(began)),
  countIf(may_lack_frees OR notEmpty(lacks_frees_of))
FROM (SELECT trace, host, kernel, recorded_ns, events, lost_events, began, may_lack_frees, lacks_frees_of
      FROM {database}.traces WHERE {traces} LIMIT 1 BY trace)
