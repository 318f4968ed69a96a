-- SPDX-License-Identifier: GPL-2.0-or-later
-- The kernel's account of its memory, from snapshots and series of snapshots: a row for each amount of a file. All
-- numbers describe the time between the first and the last snapshot of the file. The columns are described in
-- docs/formats/fleet.md.
CREATE TABLE IF NOT EXISTS {database}.accounts{local} (
  day Date, host {text}, kernel {text}, trace {text}, began DateTime, seconds Float64, snapshots UInt64,
  part {text}, name String, first_bytes Int64, last_bytes Int64, bytes_per_s Float64, least_bytes_per_s Float64,
  verdict {text}, loaded DateTime
) ENGINE = ReplacingMergeTree(loaded) PARTITION BY day ORDER BY (part, name, trace);
