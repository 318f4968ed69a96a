#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Uses a kernel module that leaks: brd creates a RAM disk when its number is opened, and never removes the disk.
set -u
insmod /kmod/brd.ko rd_nr=0 || exit

make_disks() {
  i=1
  while [ $i -lt 4000 ]; do
    mknod "/dev/r$i" b 1 $i
    : 2>/dev/null <"/dev/r$i"
    sleep 0.03
    i=$((i + 1))
  done
}

# Runs short-lived processes with files.
work() {
  while :; do find /sys/kernel/mm | sort >/tmp/list; done
}

work &
work=$!
kmemtrace investigate --for 60s -o none --cpu 100 --json >none.json 2>none.err
echo $? >none.code
make_disks &
disks=$!
kmemtrace investigate --for 60s -o leak --cpu 100 --json >leak.json 2>leak.err
echo $? >leak.code
kill $work $disks
rm -f leak/trace.kmt none/trace.kmt
exit 0
