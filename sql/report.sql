-- SPDX-License-Identifier: GPL-2.0-or-later
-- `kmemtrace fleet report`: {keys_as} is what is grouped by, `, function AS k1, kernel AS k2`, {keys} the same without
-- what it is; {rows} selects rows of sums, {traces} traces.
SELECT allocator{keys_as}, uniqExact(host), uniqExact(trace), sum(allocations), sum(failed_allocations),
  sum(bytes_requested), sum(bytes_allocated), sum(matched_frees), sum(bytes_freed), sum(live_allocations),
  sum(live_bytes), sum(cross_cpu_frees), sum(lifetime_ns)
FROM {database}.sums
WHERE {rows} AND trace GLOBAL IN (SELECT trace FROM {database}.traces WHERE {traces})
GROUP BY allocator{keys}
