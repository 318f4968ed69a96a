-- SPDX-License-Identifier: GPL-2.0-or-later
-- The tables on each server for traces of many machines; docs/formats/fleet.md describes them. {text} is
-- LowCardinality(String) if the server supports it, otherwise String. {local} is empty, or _local on a server of a
-- cluster. All keys together identify a row, so if a row was sent twice, merges keep only one copy.
CREATE TABLE IF NOT EXISTS {database}.traces{local} (
  day Date, host {text}, kernel {text}, trace String, began DateTime, level {text}, path String, format {text},
  arch {text}, cpus UInt32, page_size UInt32, clock {text}, first_ns UInt64, end_ns UInt64, recorded_ns UInt64,
  events UInt64, lost_events UInt64, sum_rows UInt64, event_rows UInt64, loaded DateTime
) ENGINE = ReplacingMergeTree(loaded) PARTITION BY day ORDER BY trace;

CREATE TABLE IF NOT EXISTS {database}.sums{local} (
  day Date, host {text}, kernel {text}, trace {text}, began DateTime, block UInt32, at DateTime,
  allocator {text}, function {text}, call_site {text}, cache {text}, page_order Int8, comm {text}, context {text},
  allocations Int64, failed_allocations Int64, bytes_requested Int64, bytes_allocated Int64, matched_frees Int64,
  bytes_freed Int64, live_allocations Int64, live_bytes Int64, cross_cpu_frees Int64, lifetime_ns UInt64,
  live_moment_1 Float64, live_moment_2 Float64
) ENGINE = ReplacingMergeTree() PARTITION BY (day, host)
  ORDER BY (allocator, function, call_site, cache, page_order, comm, context, trace, at);

CREATE TABLE IF NOT EXISTS {database}.events{local} (
  day Date, host {text}, kernel {text}, trace {text}, began DateTime, block UInt32, id UInt64,
  time_ns UInt64, cpu UInt32, tid Int32, task {text}, context {text}, event {text}, outcome {text}, allocator {text},
  address Nullable(UInt64), bytes_requested Nullable(UInt64), bytes_allocated Nullable(UInt64),
  call_site Nullable(UInt64), symbol {text}, function {text}, cache {text}, page_order Nullable(UInt8),
  migrate_type {text}, gfp_flags {text}, node Nullable(Int32), allocation UInt32, lifetime_ns Nullable(UInt64),
  stack Array(String)
) ENGINE = ReplacingMergeTree() PARTITION BY (day, host) ORDER BY (trace, id);
