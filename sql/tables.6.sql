-- SPDX-License-Identifier: GPL-2.0-or-later
-- 1 if the kernel frees objects of this cache or function on a path without a tracepoint (docs/untraced-paths.md) in
-- this kernel version. Unknown for traces that were loaded before this column existed.
ALTER TABLE {database}.sums{local} ADD COLUMN untraced UInt8;
