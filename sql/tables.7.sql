-- SPDX-License-Identifier: GPL-2.0-or-later
-- The subsystem and the source directory of the call site (docs/modules.md). Empty if unknown, and for traces that were
-- loaded before these columns existed.
ALTER TABLE {database}.sums{local} ADD COLUMN subsystem {text}, ADD COLUMN directory {text};
