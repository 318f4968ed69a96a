-- SPDX-License-Identifier: GPL-2.0-or-later
-- Number of objects that ended because their address was allocated again: their free was not traced. 0 for traces
-- loaded earlier.
ALTER TABLE {database}.sums{local} ADD COLUMN freed_unseen Int64;
