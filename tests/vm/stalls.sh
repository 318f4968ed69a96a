#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Lets tasks wait for memory: first because the machine has too little, then because a cgroup reached its limit. Saves
# the kernel's counters before and after the load, and before and after the recording, in which the load runs.
set -u
cgroup=/sys/fs/cgroup/small
failed=0

# A disk in memory. Its pages read as zeros until they are written, and need memory only in the page cache.
insmod /kmod/brd.ko rd_nr=1 rd_size=1048576 || exit 1
echo always >/sys/kernel/mm/transparent_hugepage/enabled
echo always >/sys/kernel/mm/transparent_hugepage/defrag

# The page cache fills the memory, and then the readers reclaim from each other. The large buffers of the last dd need
# huge pages, and therefore compaction, while readers scatter their pages.
cat >/tmp/load <<'END'
cat /proc/vmstat >"$name.vmstat.load.before"
for part in 0 1 2 3 4 5 6 7; do
  dd if=/dev/ram0 of=/dev/null bs=64k skip=$((part * 2048)) count=1536 2>/dev/null &
done
dd if=/dev/zero of=/dev/null bs=100M count=2 2>/dev/null
wait
cat /proc/vmstat >"$name.vmstat.load.after"
END
cat >/tmp/confined <<'END'
echo $$ >/sys/fs/cgroup/small/cgroup.procs
exec dd if=/dev/ram0 of=/dev/null bs=64k count=2048
END

# record NAME OPTION…
record() {
  export name="$1"
  shift
  cat /proc/vmstat >"$name.vmstat.before"
  kmemtrace record -o "$name.kmt" --stalls "$@" >"$name.said" 2>&1 || {
    echo "record $*: exit code $?"
    cat "$name.said"
    failed=1
  }
  cat /proc/vmstat >"$name.vmstat.after"
}

only='vmscan:mm_vmscan_direct_reclaim_*,kmem:mm_page_alloc'
record global -e "$only" -b 8M -- sh /tmp/load
record whole -b 8M --stacks -- sh /tmp/load

echo +memory >/sys/fs/cgroup/cgroup.subtree_control
if mkdir $cgroup && echo 20M >$cgroup/memory.max; then
  record cgroup -e "$only,cgroup:cgroup_attach_task" -b 8M -- sh /tmp/confined
  cat $cgroup/memory.stat >cgroup.stat
  cat $cgroup/memory.pressure >cgroup.pressure
fi
exit $failed
