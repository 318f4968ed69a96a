#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# CPU 1 comes online while user stacks are recorded. Programs pinned to CPU 1 start immediately and later.
set -eu
echo 0 >/sys/devices/system/cpu/cpu1/online
cat >/tmp/changes <<'END_OF_CHANGES'
for cycle in 1 2 3; do
  echo 1 >/sys/devices/system/cpu/cpu1/online
  taskset 2 /bin/early 1500 >/dev/null
  sleep 0.5
  taskset 2 /bin/late 500 >/dev/null
  echo 0 >/sys/devices/system/cpu/cpu1/online
done
END_OF_CHANGES
kmemtrace record --no-progress --stacks=user -b 16M -o pinned.kmt -- sh /tmp/changes 2>messages
