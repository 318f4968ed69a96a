-- SPDX-License-Identifier: GPL-2.0-or-later
-- Adds the column of tables.9.sql to the table that combines all shards.
ALTER TABLE {database}.sums ADD COLUMN slab_pages UInt8;
