#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Gives the kernel reasons to allocate memory: makes files, directories, pipes and processes for some seconds.
#   tools/workload.sh [SECONDS]
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
now() { date +%s%N; }
end=$(($(now) + ${1:-3} * 1000000000))
while [ "$(now)" -lt "$end" ]; do
  mkdir -p "$directory/a/b/c"
  for name in 1 2 3 4 5 6 7 8; do
    echo "$name" >"$directory/a/b/c/$name"
    sort "$directory/a/b/c/$name" | uniq | wc -c >/dev/null
  done
  find /sys/kernel /proc/self -maxdepth 3 -name 'a*' >/dev/null 2>&1 || true
  rm -r "$directory/a"
done
