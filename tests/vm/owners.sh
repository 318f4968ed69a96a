#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Takes snapshots before and after a module leaks pages. /arguments has the numbers of pages.
set -eu
kmemtrace snapshot --pages --json >/dev/null  # the first run fills caches
cat /proc/sys/vm/stat_refresh
kmemtrace snapshot --pages -o before.kmt
read -r single blocks pooled </arguments
insmod /leaked_pages.ko single="$single" blocks="$blocks" pooled="$pooled"
cat /proc/sys/vm/stat_refresh
kmemtrace snapshot --pages -o after.kmt
kmemtrace snapshot >after.txt
