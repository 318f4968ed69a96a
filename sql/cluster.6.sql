-- SPDX-License-Identifier: GPL-2.0-or-later
-- The same of all shards' tables as one.
ALTER TABLE {database}.sums ADD COLUMN untraced UInt8;
