#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each CPU, which has a node of its own, writes files. Notes the kernel's counters of each node before and after.
set -eu
cat >/tmp/load <<'END'
counters() {
  for node in 0 1; do cp /sys/devices/system/node/node$node/vmstat /out/node$node.$1; done
}
counters before
for cpu in 0 1; do
  mkdir /tmp/$cpu
  taskset $((cpu + 1)) sh -c "
    dd if=/dev/zero of=/tmp/$cpu/large bs=64k count=768 2>/dev/null
    i=0
    while [ \$i -lt 1500 ]; do
      : >/tmp/$cpu/\$i
      i=\$((i + 1))
    done"
done
counters after
END
cp /proc/zoneinfo zoneinfo
dd if=/proc/kcore of=kcore bs=4k count=1 2>/dev/null
kmemtrace record --no-progress -b 16M -o nodes.kmt -- sh /tmp/load 2>messages
kmemtrace snapshot --json >snapshot.json
kmemtrace snapshot >snapshot.text
for node in 0 1; do cp /sys/devices/system/node/node$node/meminfo node$node.meminfo; done
kmemtrace snapshot -o small.kmt
taskset 2 dd if=/dev/zero of=/tmp/more bs=1M count=64 2>/dev/null
kmemtrace snapshot -o large.kmt
