#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Fills slab caches, and only then starts the program. $COUNT is in the file /count.
set -eu
count=$(cat /count)
if [ -e /leaked_kinds.ko ]; then insmod /leaked_kinds.ko count="$count"; fi
/bin/object_kinds "$count" >/tmp/ready &
until grep -q ready /tmp/ready; do sleep 0.2; done
cat /proc/slabinfo >slabinfo
# Names of caches that this kernel has.
caches=filp,eventpoll_epi,posix_timers_cache,kmalloc-192,kmalloc-96
kmemtrace snapshot --objects $caches --json >objects.json
kmemtrace snapshot --objects $caches >objects.txt
kmemtrace snapshot --objects $caches --most-objects 100 --most-bytes 1M --json >limited.json
mount --bind /dev/null /proc/kcore  # as in containers
kmemtrace snapshot --objects $caches --json >without_kcore.json
umount /proc/kcore
status=0
kmemtrace snapshot --objects no_such_cache >unknown.txt 2>&1 || status=$?
echo $status >unknown.status
