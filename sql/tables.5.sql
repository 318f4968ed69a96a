-- SPDX-License-Identifier: GPL-2.0-or-later
-- Allocators with allocations but no frees in a trace that reports no loss. Empty for traces loaded earlier:
-- may_lack_frees marks those without frees of slab objects. Not {text}: 18.16 does not pass such arrays from shard to
-- shard.
ALTER TABLE {database}.traces{local} ADD COLUMN lacks_frees_of Array(String);
