-- SPDX-License-Identifier: GPL-2.0-or-later
-- `kmemtrace fleet report`: {keys_as} is what is grouped by, `, function AS k1, kernel AS k2`, {keys} the same without
-- what it is; {rows} selects rows of sums, {traces} traces. What lives at the end of a time is what all rows until then
-- leave; everything else is of rows {during} that time.
SELECT allocator{keys_as}, uniqExactIf(host, {during}), uniqExactIf(trace, {during}), sumIf(allocations, {during}),
  sumIf(failed_allocations, {during}), sumIf(bytes_requested, {during}), sumIf(bytes_allocated, {during}),
  sumIf(matched_frees, {during}), sumIf(bytes_freed, {during}), sum(live_allocations), sum(live_bytes),
  sumIf(cross_cpu_frees, {during}), sumIf(lifetime_ns, {during})
FROM {database}.sums
WHERE {rows} AND trace GLOBAL IN (SELECT trace FROM {database}.traces WHERE {traces})
GROUP BY allocator{keys}
HAVING countIf({during}) > 0 OR sum(live_allocations) != 0
