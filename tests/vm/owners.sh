#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Takes snapshots before and after a module leaks pages. /arguments has the numbers of pages.
set -eu
# Takes a snapshot with all owners. On a busy machine, reading them may take longer than the limit.
take() {
  cat /proc/sys/vm/stat_refresh
  for _ in 1 2 3 4 5; do
    kmemtrace snapshot --pages -o "$1"
    if ! kmemtrace snapshot "$1" | grep -q '^  owners '; then break; fi
  done
}
kmemtrace snapshot --pages --json >/dev/null  # the first run fills caches
take before.kmt
read -r single blocks pooled </arguments
insmod /unowned_pages.ko single="$single" blocks="$blocks" pooled="$pooled"
take after.kmt
kmemtrace snapshot after.kmt >after.txt
insmod /kmod/xsk_diag.ko
/bin/planted_memory xdp >/tmp/ready &
until grep -q ready /tmp/ready; do sleep 0.2; done
cat /proc/vmallocinfo >vmallocinfo
kmemtrace snapshot --json --limit 0 >xdp.json
