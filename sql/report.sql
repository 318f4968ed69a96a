-- SPDX-License-Identifier: GPL-2.0-or-later
-- `kmemtrace fleet report`: {keys_as} is a list of grouping keys, such as `, function AS k1, kernel AS k2`, and {keys}
-- is the list of their names. {rows} is a condition on rows of sums, and {traces} is a condition on traces. {during} is
-- true for rows in the requested period. Memory live at the end of the period is the sum over all rows up to that time.
-- All other values are sums over the rows in the period.
SELECT allocator{keys_as}, uniqExactIf(host, {during}), uniqExactIf(trace, {during}), sumIf(allocations, {during}),
  sumIf(failed_allocations, {during}), sumIf(bytes_requested, {during}), sumIf(bytes_allocated, {during}),
  sumIf(matched_frees, {during}), sumIf(bytes_freed, {during}), sum(live_allocations), sum(live_bytes),
  sumIf(cross_cpu_frees, {during}), sumIf(lifetime_ns, {during})
FROM {database}.sums
WHERE {rows} AND trace GLOBAL IN (SELECT trace FROM {database}.traces WHERE {traces})
GROUP BY allocator{keys}
HAVING countIf({during}) > 0 OR sum(live_allocations) != 0
