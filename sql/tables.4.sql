-- SPDX-License-Identifier: GPL-2.0-or-later
-- The migrate type shows which pages are reclaimable. It is part of the identity of a row, so it is in the key. Empty
-- for traces that were loaded before this column existed.
ALTER TABLE {database}.sums{local} ADD COLUMN migrate_type {text},
  MODIFY ORDER BY (allocator, function, call_site, cache, page_order, comm, context, trace, at, migrate_type);
