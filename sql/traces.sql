-- SPDX-License-Identifier: GPL-2.0-or-later
-- `kmemtrace fleet traces`: the loaded traces, newest first. {traces} is a condition on traces.
SELECT trace, host, kernel, arch, level, path, format, toUInt32(began), recorded_ns, events, lost_events
FROM {database}.traces
WHERE {traces}
ORDER BY began DESC, host, trace, loaded DESC, level DESC
LIMIT 1 BY trace
