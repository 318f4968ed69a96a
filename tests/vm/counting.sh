#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Counts the events of known loads with several back ends of `stat` and `top` at the same time.
set -u
instances=/sys/kernel/tracing/instances
failed=0
fail() {
  echo "$*"
  failed=1
}

# Waits until a file has at least this number of lines.
await_lines() {
  for _ in $(seq 300); do
    [ "$(wc -l <"$1")" -ge "$2" ] && return
    sleep 0.2
  done
  fail "$1 has too few lines"
}

# A process that waits for a line, and then opens 10,000 pipes.
mkfifo /tmp/go
pipe_loop 10000 --wait </tmp/go >counts &
loop=$!
exec 3>/tmp/go
await_lines counts 1
watchers=
for backend in bpf hist ring-buffer; do
  kmemtrace stat --backend $backend --json --interval 200ms -p $loop >stat-$backend.out 2>stat-$backend.err &
  watchers="$watchers $!"
  kmemtrace top --backend $backend --json --interval 500ms --view caches -p $loop >top-$backend.out 2>top-$backend.err &
  watchers="$watchers $!"
done
for backend in bpf hist ring-buffer; do
  await_lines stat-$backend.out 1
  await_lines top-$backend.out 1
done
echo >&3
await_lines counts 2
sleep 2
for watcher in $watchers; do kill -TERM "$watcher"; done # the shell makes its jobs ignore SIGINT
for watcher in $watchers; do wait "$watcher" || fail "a command failed"; done
exec 3>&-
wait $loop
cat ./*.err

# Child processes are counted, too.
for backend in bpf hist ring-buffer; do
  kmemtrace stat --backend $backend --json -- sh -c 'pipe_loop 3000; pipe_loop 3000' >children-$backend.out 2>children.err || cat children.err
  kmemtrace top --backend $backend --json --view processes -- sh -c 'pipe_loop 3000 >/dev/null' >processes-$backend.out 2>children.err || cat children.err
done
[ -z "$(ls $instances)" ] || fail "left: $(ls $instances)"

# A killed command leaves no instance.
for backend in hist ring-buffer; do
  kmemtrace stat --backend $backend -d 60s >/dev/null 2>&1 &
  killed=$!
  for _ in $(seq 100); do
    [ -n "$(ls $instances)" ] && break
    sleep 0.1
  done
  [ -n "$(ls $instances)" ] || fail "$backend has no instance"
  sleep 0.5
  kill -KILL $killed
  for _ in $(seq 100); do
    [ -z "$(ls $instances)" ] && break
    sleep 0.1
  done
  [ -z "$(ls $instances)" ] || fail "$backend left $(ls $instances)"
done
exit $failed
