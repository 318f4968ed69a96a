#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Starts many processes with so few process IDs that each ID is reused many times.
set -eu
echo 500 >/proc/sys/kernel/pid_max
cat >/tmp/storm <<'END'
for cycle in $(seq 700); do ( : ) & ( : ); done
wait
END
kmemtrace record --no-progress --clock mono -b 16M -o pids.kmt -- sh /tmp/storm
