-- SPDX-License-Identifier: GPL-2.0-or-later
-- What ended because its address was given again: its free has no tracepoint. Traces that were loaded before tell of none.
ALTER TABLE {database}.sums{local} ADD COLUMN freed_unseen Int64;
