-- SPDX-License-Identifier: GPL-2.0-or-later
-- Whether all memory live at a trace's end may have been freed: events were lost, only some tasks recorded, or no frees.
-- Unknown for traces loaded earlier.
ALTER TABLE {database}.traces{local} ADD COLUMN may_lack_frees UInt8;
