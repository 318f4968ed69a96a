-- SPDX-License-Identifier: GPL-2.0-or-later
-- Number of objects whose address was allocated again without a traced free. 0 for traces that were loaded before this
-- column existed.
ALTER TABLE {database}.sums{local} ADD COLUMN freed_unseen Int64;
