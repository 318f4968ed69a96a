#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Records five loads with probes: one trace for each load. The first load is also recorded without probes. The last
# recording, counts.kmt, is compared with the kernel's own counts at two times during the recording.
set -u
# shellcheck source=tests/vm/untraced_loads.sh
. /untraced_loads.sh
failed=0

# record NAME LOAD OPTION…
record() {
  name=$1
  load=$2
  shift 2
  # shellcheck disable=SC2046  # a command has several words
  kmemtrace record --stacks "$@" -o "$name.kmt" -- $(load_command "$load") >"$name.said" 2>&1 || {
    echo "record $name: exit code $?"
    cat "$name.said"
    failed=1
  }
}

record forks forks
record without forks --no-probes
record mounts mounts
record loopback loopback
record maps maps
[ ! -e /bin/cc1 ] || record compile compile

# A histogram of the pages that the recorder allocates, because it does not record them.
own=/sys/kernel/tracing/instances/own/events/kmem/mm_page_alloc
mkdir /sys/kernel/tracing/instances/own
echo 'hist:keys=order if comm ~ "kmemtrace*"' >$own/trigger
cat >/tmp/counts <<END
read_counts() {
  sleep 8 # kfree_rcu() frees objects after up to 5 s and a grace period
  # Returns the free objects of all CPUs to their slabs, because slabinfo counts these objects as in use.
  for cache in /sys/kernel/slab/*/shrink; do echo 1 >"\$cache"; done
  cat /proc/slabinfo >slabinfo-\$1
  cat $own/hist >own-\$1
  cat /proc/vmstat >vmstat-\$1
  cut -d' ' -f1 /proc/uptime >uptime-\$1
}
read_counts start # the first time, this opens many files
read_counts before
sh /tmp/forks
sh /tmp/mounts
kernel_loads loopback 500
read_counts after
END
record counts counts
exit $failed
