-- SPDX-License-Identifier: GPL-2.0-or-later
-- `kmemtrace fleet diff`: {a} and {b} are conditions that select the rows of sums for the two sides. report.sql
-- explains the other placeholders.
SELECT allocator{keys_as},
  uniqExactIf(host, {a}), uniqExactIf(trace, {a}), sumIf(allocations, {a}), sumIf(failed_allocations, {a}),
  sumIf(bytes_requested, {a}), sumIf(bytes_allocated, {a}), sumIf(matched_frees, {a}), sumIf(bytes_freed, {a}),
  sumIf(live_allocations, {a}), sumIf(live_bytes, {a}), sumIf(cross_cpu_frees, {a}), sumIf(lifetime_ns, {a}),
  uniqExactIf(host, {b}), uniqExactIf(trace, {b}), sumIf(allocations, {b}), sumIf(failed_allocations, {b}),
  sumIf(bytes_requested, {b}), sumIf(bytes_allocated, {b}), sumIf(matched_frees, {b}), sumIf(bytes_freed, {b}),
  sumIf(live_allocations, {b}), sumIf(live_bytes, {b}), sumIf(cross_cpu_frees, {b}), sumIf(lifetime_ns, {b})
FROM {database}.sums
WHERE {rows} AND (({a}) OR ({b})) AND trace GLOBAL IN (SELECT trace FROM {database}.traces WHERE {traces})
GROUP BY allocator{keys}
