-- SPDX-License-Identifier: GPL-2.0-or-later
-- `kmemtrace fleet account`: which amounts of kernel memory grow, on which hosts and kernels. {traces} is a condition on
-- accounts. A file may be stored twice until the server merges the duplicates. So the inner query makes one row for
-- each amount of a file. The verdict of a file is that of `kmemtrace leaks`, with the same thresholds.
SELECT part, name, kernel, uniqExact(of_host), uniqExactIf(of_host, grows), count(), countIf(grows),
  arraySort(groupUniqArrayIf(of_host, grows)), maxIf(slope, grows), max(at_end)
FROM (
  SELECT trace, part, name, kernel, toString(any(host)) AS of_host, any(verdict) = 'certain' AS grows,
    any(bytes_per_s) AS slope, any(last_bytes) AS at_end
  FROM {database}.accounts
  WHERE {traces}
  GROUP BY trace, part, name, kernel
)
GROUP BY part, name, kernel
ORDER BY part, name, kernel
