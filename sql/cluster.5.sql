-- SPDX-License-Identifier: GPL-2.0-or-later
-- The same of all shards' tables as one.
ALTER TABLE {database}.traces ADD COLUMN lacks_frees_of Array(String);
