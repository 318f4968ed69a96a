-- SPDX-License-Identifier: GPL-2.0-or-later
-- 1 if all memory live at the end of a trace may have been freed: events were lost, only some tasks were recorded, or
-- no frees were recorded. Unknown for traces that were loaded before this column existed.
ALTER TABLE {database}.traces{local} ADD COLUMN may_lack_frees UInt8;
