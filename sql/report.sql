-- SPDX-License-Identifier: GPL-2.0-or-later
-- `kmemtrace fleet report`: {keys_as} has the grouping keys, `, function AS k1, kernel AS k2`, and {keys} only their
-- names. {rows} selects rows of sums, {traces} traces. Memory live at the end of a time is the sum of all rows until
-- then; everything else comes from rows {during} that time.
SELECT allocator{keys_as}, uniqExactIf(host, {during}), uniqExactIf(trace, {during}), sumIf(allocations, {during}),
  sumIf(failed_allocations, {during}), sumIf(bytes_requested, {during}), sumIf(bytes_allocated, {during}),
  sumIf(matched_frees, {during}), sumIf(bytes_freed, {during}), sum(live_allocations), sum(live_bytes),
  sumIf(cross_cpu_frees, {during}), sumIf(lifetime_ns, {during})
FROM {database}.sums
WHERE {rows} AND trace GLOBAL IN (SELECT trace FROM {database}.traces WHERE {traces})
GROUP BY allocator{keys}
HAVING countIf({during}) > 0 OR sum(live_allocations) != 0
