-- SPDX-License-Identifier: GPL-2.0-or-later
-- The table of tables.8.sql for all shards.
CREATE TABLE IF NOT EXISTS {database}.accounts AS {database}.accounts_local
  ENGINE = Distributed({cluster}, {database}, accounts_local, cityHash64(trace));
