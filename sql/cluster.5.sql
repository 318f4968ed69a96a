-- SPDX-License-Identifier: GPL-2.0-or-later
-- Adds the column of tables.5.sql to the table that combines all shards.
ALTER TABLE {database}.traces ADD COLUMN lacks_frees_of Array(String);
