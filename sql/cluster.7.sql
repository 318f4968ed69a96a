-- SPDX-License-Identifier: GPL-2.0-or-later
-- Adds the columns of tables.7.sql to the table that combines all shards.
ALTER TABLE {database}.sums ADD COLUMN subsystem {text}, ADD COLUMN directory {text};
