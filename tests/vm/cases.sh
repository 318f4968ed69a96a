#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Plants the case that the file /case names, and then investigates it. The program only sees what is there when it
# starts, except for the leaks that grow.
set -u
case=$(cat /case)

investigate() {
  kmemtrace investigate --for "$1" -o /tmp/found --cpu 100 --json >found.json 2>found.err
  echo $? >found.status
  kmemtrace investigate --from /tmp/found -o /tmp/again >found.txt 2>again.err
}

pollute() {
  # Set small reserves of free memory, and disable the kernel's measures against fragmentation.
  echo 2048 >/proc/sys/vm/min_free_kbytes
  echo 0 >/proc/sys/vm/watermark_boost_factor
  (exec planted_memory pollute 8) >/tmp/ready &
  while kill -0 $! && ! grep -q ready /tmp/ready; do sleep 0.2; done
}

case $case in
healthy) investigate 20s ;;
slab)
  insmod /leaked_kinds.ko count=400000
  investigate 20s
  kmemtrace investigate --for 20s -o /tmp/live --cpu 100 >live.txt 2>live.err
  ;;
pages)
  insmod /leaked_pages.ko blocks=40
  investigate 40s
  ;;
vmalloc)
  insmod /leaked_pages.ko areas=8
  investigate 40s
  ;;
cgroups)
  echo +memory >/sys/fs/cgroup/cgroup.subtree_control
  mkdir /sys/fs/cgroup/jobs /sys/fs/cgroup/runner
  echo +memory >/sys/fs/cgroup/jobs/cgroup.subtree_control
  mkdir -p /files && mount -t tmpfs files /files
  (exec planted_memory cgroups /sys/fs/cgroup/jobs /files 10500) >/tmp/ready &
  while kill -0 $! && ! grep -q ready /tmp/ready; do sleep 0.2; done
  cat /sys/fs/cgroup/jobs/cgroup.stat >cgroup.stat
  investigate 20s
  ;;
polluted)
  pollute
  investigate 20s
  ;;
slabs)
  pollute
  kmemtrace snapshot --pages --json >before.json 2>before.err
  insmod /leaked_kinds.ko count=400000
  kmemtrace snapshot --pages --json --limit 0 >found.json 2>found.err
  kmemtrace snapshot --pages >found.txt
  kmemtrace snapshot --pages -o /tmp/pages.kmt
  kmemtrace snapshot /tmp/pages.kmt >stored.txt
  cat /proc/pagetypeinfo >pagetypeinfo
  ;;
oom)
  insmod /leaked_kinds.ko count=1000000
  dd if=/dev/zero of=/dev/null bs=420M count=1 2>dd.err
  dmesg >oom.txt
  kmemtrace snapshot --from oom.txt --json >found.json 2>found.err
  kmemtrace snapshot --from oom.txt >found.txt
  ;;
esac
exit 0
