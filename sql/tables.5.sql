-- SPDX-License-Identifier: GPL-2.0-or-later
-- Allocators of which a trace has allocations and no frees, though no loss says so. Of traces that were loaded before
-- none is known: may_lack_frees says it of those that lack frees of slab objects. Not {text}: 18.16 does not pass such
-- arrays from shard to shard.
ALTER TABLE {database}.traces{local} ADD COLUMN lacks_frees_of Array(String);
