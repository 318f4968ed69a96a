-- SPDX-License-Identifier: GPL-2.0-or-later
-- The table on each server of a cluster that combines the tables `accounts` of all shards.
CREATE TABLE IF NOT EXISTS {database}.accounts AS {database}.accounts_local
  ENGINE = Distributed({cluster}, {database}, accounts_local, cityHash64(trace));
