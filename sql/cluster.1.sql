-- SPDX-License-Identifier: GPL-2.0-or-later
-- All shards' tables as one, on each server of a cluster. A trace lies on one shard, all of it.
CREATE TABLE IF NOT EXISTS {database}.traces AS {database}.traces_local
  ENGINE = Distributed({cluster}, {database}, traces_local, cityHash64(trace));

CREATE TABLE IF NOT EXISTS {database}.sums AS {database}.sums_local
  ENGINE = Distributed({cluster}, {database}, sums_local, cityHash64(trace));

CREATE TABLE IF NOT EXISTS {database}.events AS {database}.events_local
  ENGINE = Distributed({cluster}, {database}, events_local, cityHash64(trace));
