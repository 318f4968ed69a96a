-- SPDX-License-Identifier: GPL-2.0-or-later
-- 1 for pages of slabs and of large kmallocs. The objects on these pages are counted in the slab allocator. The column
-- is part of the identity of a row, so it is in the key. 0 for traces that were loaded before this column existed.
ALTER TABLE {database}.sums{local} ADD COLUMN slab_pages UInt8,
  MODIFY ORDER BY (allocator, function, call_site, cache, page_order, comm, context, trace, at, migrate_type, slab_pages);
