-- SPDX-License-Identifier: GPL-2.0-or-later
-- The migrate type of pages shows which the kernel reclaims. It identifies a row, so it is in its key; empty for older traces.
ALTER TABLE {database}.sums{local} ADD COLUMN migrate_type {text},
  MODIFY ORDER BY (allocator, function, call_site, cache, page_order, comm, context, trace, at, migrate_type);
