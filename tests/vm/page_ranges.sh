#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Records the allocation of a huge page of 1 GiB, with and without probes.
set -u
cat >/tmp/huge <<'END'
pages=/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages
# A page that is in use for a moment makes the allocation fail.
for _ in 1 2 3 4 5 6 7 8; do
  echo 3 >/proc/sys/vm/drop_caches
  echo 1 >$pages
  cat $pages >$1
  ! grep -q 1 $1 || break
  sleep 1
done
echo 0 >$pages
END
kmemtrace record -o ranges.kmt --stacks -- sh /tmp/huge allocated >ranges.said 2>&1 &&
  kmemtrace record -o none.kmt --no-probes -- sh /tmp/huge allocated-none >none.said 2>&1 && exit
cat ranges.said none.said
exit 1
