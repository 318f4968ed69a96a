-- SPDX-License-Identifier: GPL-2.0-or-later
-- Whether the kernel frees such objects on a path without tracepoint (docs/untraced-paths.md), by the cache, the function
-- and the kernel. Unknown for traces loaded earlier.
ALTER TABLE {database}.sums{local} ADD COLUMN untraced UInt8;
