#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# CPU 1 repeatedly goes offline and online under load during a recording. It is also offline at the start,
# to test a CPU for which the ring buffer has no part: a new ring buffer has parts only for the CPUs that are online.
set -eu
cpu=/sys/devices/system/cpu/cpu1/online
echo 0 >$cpu
cat >/tmp/changes <<'END'
for load in 1 2; do
  while [ ! -e /tmp/done ]; do find /sys/kernel/mm | sort >/tmp/list$load; done &
done
for cycle in $(seq 200); do
  echo 1 >/sys/devices/system/cpu/cpu1/online
  echo 0 >/sys/devices/system/cpu/cpu1/online
done
echo 1 >/sys/devices/system/cpu/cpu1/online
touch /tmp/done
wait
END
kmemtrace record --no-progress -b 16M -o cpus.kmt -- sh /tmp/changes
kmemtrace check --json cpus.kmt >check.out || echo "check: $?"
cat >/tmp/once <<'END'
echo 0 >/sys/devices/system/cpu/cpu1/online
sleep 1
echo 1 >/sys/devices/system/cpu/cpu1/online
sleep 1
END
kmemtrace record --no-progress -b 1M -o cpus.dat -- sh /tmp/once
