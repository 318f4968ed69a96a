#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Records a workload that creates and keeps objects of kmalloc-512, kmalloc-1k, mnt_cache and some other caches. The
# workload creates network namespaces, cgroups and mounts, and removes some of them.
set -eu
cat >work.sh <<'WORK'
for i in 1 2 3 4 5 6; do
  unshare -n sh -c "echo \$\$ >namespace$i; exec sleep 1000" &
  mkdir /sys/fs/cgroup/kept$i /tmp/mount$i
  mount -t tmpfs none /tmp/mount$i
done
until [ -s namespace6 ]; do sleep 0.1; done
sleep 1
kill $(cat namespace5 namespace6)
umount /tmp/mount5 /tmp/mount6
rmdir /sys/fs/cgroup/kept5 /sys/fs/cgroup/kept6
# Waits for frees by kernel workers and RCU, until the kernel's counts are unchanged for three seconds.
counts() {
  cat /sys/kernel/debug/slab/kmalloc-512/alloc_traces /sys/kernel/debug/slab/kmalloc-1k/alloc_traces \
    /sys/kernel/debug/slab/mnt_cache/alloc_traces |
    sed -n 's/ age=.*//p' | sort
}
same=0
for i in $(seq 60); do
  counts >counts.now
  if cmp -s counts.now counts.before; then same=$((same + 1)); else same=0; fi
  if [ $same -ge 3 ]; then break; fi
  mv counts.now counts.before
  sleep 1
done
WORK
kmemtrace record -o trace.kmt -b 8M -- sh work.sh >record.out 2>&1 || { cat record.out; exit 1; }
kmemtrace report trace.kmt --json --limit 0 --by cache,call-site >report.json
kmemtrace diff trace.kmt --json --limit 0 >diff.json
kmemtrace snapshot trace.kmt --json --limit 0 >snapshot.json
