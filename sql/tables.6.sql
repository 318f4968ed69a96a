-- SPDX-License-Identifier: GPL-2.0-or-later
-- 1 if the kernel frees such objects on a path without a tracepoint (docs/untraced-paths.md), according to cache,
-- function and kernel version. Unknown for traces loaded earlier.
ALTER TABLE {database}.sums{local} ADD COLUMN untraced UInt8;
