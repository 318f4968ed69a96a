-- SPDX-License-Identifier: GPL-2.0-or-later
-- Allocators with allocations but without frees in a trace that reports no loss. Empty for traces loaded earlier, where
-- may_lack_frees marks traces without frees of slab objects. The type is not {text}, because 18.16 cannot pass such
-- arrays between shards.
ALTER TABLE {database}.traces{local} ADD COLUMN lacks_frees_of Array(String);
