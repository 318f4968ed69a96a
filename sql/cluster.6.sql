-- SPDX-License-Identifier: GPL-2.0-or-later
-- Adds the column of tables.6.sql to the table that combines all shards.
ALTER TABLE {database}.sums ADD COLUMN untraced UInt8;
