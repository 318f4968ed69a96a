#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Kills `kmemtrace graph` at random times. The back ends take turns, and the kernel command line has the number of
# rounds. The file `left` lists leftovers of a round, `unreadable` the damaged files.
set -u
rounds=$(sed -n 's/.*rounds=\([0-9]*\).*/\1/p' /proc/cmdline)
tracing=/sys/kernel/tracing
functions=$(grep -c . $tracing/enabled_functions)
: >left
: >unreadable
: >readable

# Prints the processes, instances and probes of recorders.
traces() {
  grep -lx -e kmemtrace -e kmemtrace-watch -e kmemtrace-files /proc/[0-9]*/comm 2>/dev/null
  ls -d $tracing/instances/kmemtrace-* 2>/dev/null
  grep kmemtrace $tracing/kprobe_events
  [ "$(grep -c . $tracing/enabled_functions)" = "$functions" ] || cat $tracing/enabled_functions
}

while :; do head -c 100 /dev/zero >/dev/null; done &
load=$!
for round in $(seq "$rounds"); do
  set -- ftrace bpf kprobe
  shift $((round % 3))
  backend=$1
  name="$round.$backend.kmt"
  kmemtrace graph --backend "$backend" vfs_read -a -o "$name" -d 60s >/dev/null 2>said &
  recorder=$!
  # In every second round, wait until the recorder records.
  while [ $((round % 2)) = 1 ] && ! grep -q Recording said && [ -e /proc/$recorder/exe ]; do sleep 0.1; done
  tenths=$(($(od -An -N2 -tu2 /dev/urandom) % 50))
  sleep $((tenths / 10)).$((tenths % 10))
  kill -9 $recorder || cat said >>left
  wait $recorder
  for _ in $(seq 100); do
    [ -n "$(traces)" ] || break
    sleep 0.2
  done
  traces | sed "s/^/$name, after $tenths tenths of a second: /" >>left
  for file in "$round".*; do
    [ -e "$file" ] || continue
    kmemtrace check --json "$file" >checked 2>&1
    [ $? -le 1 ] && ! grep -q -e damaged -e torn checked && echo "$file" >>readable || echo "$file: $(cat checked)" >>unreadable
    rm "$file"
  done
done
kill $load
