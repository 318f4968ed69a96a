-- SPDX-License-Identifier: GPL-2.0-or-later
-- Tables on each server of a cluster that combine the tables of all shards. All rows of a trace are on one shard.
CREATE TABLE IF NOT EXISTS {database}.traces AS {database}.traces_local
  ENGINE = Distributed({cluster}, {database}, traces_local, cityHash64(trace));

CREATE TABLE IF NOT EXISTS {database}.sums AS {database}.sums_local
  ENGINE = Distributed({cluster}, {database}, sums_local, cityHash64(trace));

CREATE TABLE IF NOT EXISTS {database}.events AS {database}.events_local
  ENGINE = Distributed({cluster}, {database}, events_local, cityHash64(trace));
