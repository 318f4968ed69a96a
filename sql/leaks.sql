-- SPDX-License-Identifier: GPL-2.0-or-later
-- `kmemtrace fleet leaks`: memory live at the end of traces, and its growth in the traces. The least-squares line
-- through live bytes L over the seconds t from 0 to T has the slope 12 / T^3 * integral of (t - T/2) L(t). A change d
-- of L at time t adds d * t (T - t) / 2 to that integral, so the slope is 6 / T^3 * (T * sum of d t - sum of d t^2).
-- Rows contain these two moments (sum of d t and sum of d t^2), which can be added up over rows.
-- A group without live memory at the end has not grown. Traces shorter than a second are not judged, as in `kmemtrace
-- leaks`, because programs that start look like growth. The mean of the slopes is weighted by the lengths of traces.
-- {shrinkable} is a condition on cache, function and migrate type of sums. report.sql explains {keys_as}, {keys},
-- {rows} and {traces}. Live memory may have been freed in three cases. First, in the same trace, at least a hundredth
-- of the objects of its call site are freed on untraced paths, as in `kmemtrace leaks`. For pages, the order replaces
-- the call site. Second, the kernel frees such objects on paths without a tracepoint. Third, the trace or an allocator
-- in it may lack frees. All other memory is certainly live ("sure" in the columns), with two exceptions: shrinkable
-- memory, and pages of slabs if the trace also has slab objects. These objects are in groups of their own. A group
-- grows only if its certainly live part also grows. The standard deviation of the slopes is computed from their
-- differences from the mean. stddevSamp() subtracts large squares instead, which is inaccurate for similar slopes.
SELECT allocator{keys}, uniqExact(of_host), count(), uniqExactIf(of_host, slope > 0 AND sure_slope > 0 AND seconds >= {least_seconds}),
  countIf(slope > 0 AND sure_slope > 0 AND seconds >= {least_seconds}), sum(live_n), sum(live_b), sum(shrinkable_b), sum(unseen_b),
  sumIf(slope * seconds, seconds >= {least_seconds}) / sumIf(seconds, seconds >= {least_seconds}),
  sumIf(sure_slope * seconds, seconds >= {least_seconds}) / sumIf(seconds, seconds >= {least_seconds}),
  if(length(groupArrayIf(slope, seconds >= {least_seconds}) AS slopes) > 1, sqrt(arraySum(arrayMap(
    x -> pow(x - arraySum(slopes) / length(slopes), 2), slopes)) / (length(slopes) - 1)), nan)
FROM (
  SELECT trace, allocator{keys}, of_host, live_n, live_b, shrinkable_b, unseen_b, seconds,
    if(seconds > 0 AND live_n > 0, 6 * (seconds * moment_1 - moment_2) / pow(seconds, 3), 0) AS slope,
    if(seconds > 0 AND sure_n > 0, 6 * (seconds * sure_moment_1 - sure_moment_2) / pow(seconds, 3), 0) AS sure_slope
  FROM (
    SELECT trace, any(host) AS of_host, allocator{keys_as}, sum(live_allocations) AS live_n, sum(live_bytes) AS live_b,
      sumIf(live_bytes, ({shrinkable}) AS is_shrinkable) AS shrinkable_b,
      sumIf(live_bytes, (untraced OR (trace, allocator, if(allocator = 'pages', toString(page_order), toString(call_site))) GLOBAL IN (
        SELECT trace, allocator, if(allocator = 'pages', toString(page_order), toString(call_site)) AS place FROM {database}.sums
        WHERE {rows} AND trace GLOBAL IN (SELECT trace FROM {database}.traces WHERE {traces})
        GROUP BY trace, allocator, place
        HAVING sum(freed_unseen) > 0 AND sum(freed_unseen) * {frees_per_unseen} >= sum(matched_frees) + sum(freed_unseen)
      ) OR trace GLOBAL IN (
        SELECT trace FROM {database}.traces WHERE {traces} AND may_lack_frees
      ) OR (trace, allocator) GLOBAL IN (
        SELECT trace, arrayJoin(lacks_frees_of) FROM {database}.traces WHERE {traces}
      )) AS is_unseen) AS unseen_b,
      sum(live_moment_1) AS moment_1, sum(live_moment_2) AS moment_2,
      sumIf(live_allocations, (NOT is_shrinkable AND NOT is_unseen AND NOT (slab_pages AND trace GLOBAL IN (
        SELECT trace FROM {database}.sums
        WHERE {rows} AND allocator = 'slab' AND trace GLOBAL IN (SELECT trace FROM {database}.traces WHERE {traces})
      ))) AS is_sure) AS sure_n,
      sumIf(live_moment_1, is_sure) AS sure_moment_1,
      sumIf(live_moment_2, is_sure) AS sure_moment_2
    FROM {database}.sums
    WHERE {rows} AND trace GLOBAL IN (SELECT trace FROM {database}.traces WHERE {traces})
    GROUP BY trace, allocator{keys}
  ) AS of_traces GLOBAL ANY LEFT JOIN (
    SELECT trace, (max(end_ns) - min(first_ns)) / 1e9 AS seconds FROM {database}.traces WHERE {traces} GROUP BY trace
  ) AS lengths USING trace
)
GROUP BY allocator{keys}
