-- SPDX-License-Identifier: GPL-2.0-or-later
-- Adds the column of tables.3.sql to the table that combines all shards.
ALTER TABLE {database}.traces ADD COLUMN may_lack_frees UInt8;
