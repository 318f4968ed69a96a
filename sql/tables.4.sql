-- SPDX-License-Identifier: GPL-2.0-or-later
-- Of pages, which the kernel takes back: a part of what a row is, so of its key. Of traces that were loaded before it is empty.
ALTER TABLE {database}.sums{local} ADD COLUMN migrate_type {text},
  MODIFY ORDER BY (allocator, function, call_site, cache, page_order, comm, context, trace, at, migrate_type);
