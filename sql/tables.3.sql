-- SPDX-License-Identifier: GPL-2.0-or-later
-- Whether what lives at a trace's end may all have been freed: events were lost, only some tasks recorded, or no frees.
-- Of traces that were loaded before it is not known.
ALTER TABLE {database}.traces{local} ADD COLUMN may_lack_frees UInt8;
