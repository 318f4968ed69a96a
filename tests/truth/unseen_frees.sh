#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs each load once under each tool, and stores the output of the tool. Prints the slab bytes in use before the tool
# started and after it ended, according to the kernel.
set -u
# shellcheck source=tests/vm/untraced_loads.sh
. /untraced_loads.sh
events=$(for event in kmalloc kmalloc_node kmem_cache_alloc kmem_cache_alloc_node kfree kmem_cache_free; do
  [ ! -e /sys/kernel/tracing/events/kmem/$event ] || printf ',kmem:%s' $event
done)

in_use() {
  sync
  echo 2 >/proc/sys/vm/drop_caches
  sleep 2 # the kernel frees some objects later (RCU)
  # Returns the free objects of all CPUs to their slabs, because slabinfo counts these objects as in use.
  for cache in /sys/kernel/slab/*/shrink; do echo 1 >"$cache"; done
  awk 'NR > 2 { bytes += $2 * $4 } END { printf "%.0f\n", bytes }' /proc/slabinfo
}

# Each function has the output file and the command as arguments.
under_kmemtrace() {
  output=$1
  shift
  kmemtrace record -o /tmp/trace.kmt -- "$@" >/dev/null 2>&1
  kmemtrace report --json /tmp/trace.kmt >"$output" 2>/dev/null
}
under_perf() {
  output=$1
  shift
  perf record -q -a -R -c 1 -m 16M -e "${events#,}" -o /tmp/perf.data -- "$@" >/dev/null 2>&1
  perf kmem -i /tmp/perf.data --slab stat >"$output" 2>&1
}
under_memleak() {
  /memleak/ld.so --library-path /memleak /memleak/memleak --top 100000 10000 1 >"$1" 2>&1 &
  pid=$!
  shift
  sleep 5
  "$@" >/dev/null 2>&1
  sleep 2
  kill -INT $pid
  wait $pid
}

for load in forks mounts loopback maps; do
  for tool in kmemtrace perf memleak; do
    before=$(in_use)
    # shellcheck disable=SC2046  # a command has several words
    under_$tool $load.$tool $(load_command $load)
    rm -f /tmp/trace.kmt /tmp/perf.data
    echo "$load $tool $before $(in_use)"
  done
done
