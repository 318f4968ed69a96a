-- SPDX-License-Identifier: GPL-2.0-or-later
-- Allocators with allocations but without frees in a trace that reports no loss. Empty for traces that were loaded
-- before this column existed; for them, may_lack_frees marks traces without frees of slab objects. The type is not an
-- array of {text}, because ClickHouse 18.16 cannot pass arrays of LowCardinality between shards.
ALTER TABLE {database}.traces{local} ADD COLUMN lacks_frees_of Array(String);
