-- SPDX-License-Identifier: GPL-2.0-or-later
-- Objects that ended because their address was allocated again: their free has no tracepoint. 0 for older traces.
ALTER TABLE {database}.sums{local} ADD COLUMN freed_unseen Int64;
