#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Records the same load with and without probes on paths without a tracepoint. The file `left` lists probes and
# instances that remain after recordings that ended in several ways.
set -u
tracing=/sys/kernel/tracing
failed=0
: >left

leftovers() {
  grep -H kmemtrace $tracing/kprobe_events
  ls -d $tracing/instances/kmemtrace-* 2>/dev/null
}

# record NAME PROCESSES OPTION…
record() {
  name=$1
  processes=$2
  shift 2
  kmemtrace record -o "$name" "$@" -- sh /tmp/forks "$processes" >"$name.said" 2>&1 || {
    echo "record $*: exit code $?"
    cat "$name.said"
    failed=1
  }
  leftovers | sed "s/^/$name: /" >>left
}

# Paths such as /bin/ls make the shell execute programs instead of its built-in commands.
cat >/tmp/forks <<'END'
for _ in $(seq "$1"); do /bin/true; /bin/ls / | /bin/sort >/tmp/list; done
# Large programs map memory often, and Linux 6.12 then allocates maple nodes in bulk.
for _ in $(seq 10); do /bin/sort /tmp/names >/tmp/list; done
# Many tasks at once need more kernel stacks than the kernel keeps for reuse.
for _ in $(seq 60); do /bin/sleep 1 & done
wait
END

ls -R /sys/kernel >/tmp/names
record probes.kmt 400
record probes.dat 40
record stacks.kmt 40 --stacks
record none.kmt 40 --no-probes

# `stat` counts the objects of paths without a tracepoint by slab cache.
kmemtrace stat -a --json -- sh /tmp/forks 100 >stat.json 2>stat.said || failed=1
kmemtrace stat -a --json --no-probes -- sh /tmp/forks 100 >stat-none.json 2>>stat.said || failed=1
kmemtrace top --batch -n 1 --view net --no-probes >top-none.txt 2>>stat.said || failed=1
kmemtrace profile --json --no-probes -d 1s >profile-none.json 2>>stat.said || failed=1

# The kernel's own sizes of sheaves, and a series of snapshots under load.
grep -H . /sys/kernel/slab/*/sheaf_capacity >capacities 2>/dev/null
cat /proc/slabinfo >slabinfo
kmemtrace snapshot --every 1s --for 17s -o series.kmt >series.said 2>&1 &
sh /tmp/forks 40
wait $! || failed=1

# Without slabinfo, `stat` lists the slab caches with a BPF program. The second proc still has slabinfo.
mkdir /tmp/proc
mount -t proc proc /tmp/proc
mount --bind /dev/null /proc/slabinfo
cat >/tmp/files <<'END'
mkdir /tmp/many
for i in $(seq 3000); do : >/tmp/many/$i; done
END
cat /tmp/proc/slabinfo >slabinfo-before
kmemtrace stat -a --json -- sh /tmp/files >stat-hidden.json 2>>stat.said || failed=1
cat /tmp/proc/slabinfo >slabinfo-after
rm -r /tmp/many
umount /proc/slabinfo /tmp/proc

# Waits until a recording has created its probes.
wait_for_probes() {
  for _ in $(seq 150); do
    ! grep -q kmemtrace $tracing/kprobe_events || break
    sleep 0.2
  done
  sleep 1
}

# With either switch, probes would record nothing.
echo 0 >/proc/sys/kernel/ftrace_enabled
record ftrace-off.kmt 5
echo 1 >/proc/sys/kernel/ftrace_enabled
echo 0 >/sys/kernel/debug/kprobes/enabled
record kprobes-off.kmt 5
echo 1 >/sys/kernel/debug/kprobes/enabled

# SIGINT, as sent by Ctrl+C: the recorder removes the probes.
kmemtrace record -o interrupted.kmt >/dev/null 2>said &
wait_for_probes
grep -c kmemtrace $tracing/kprobe_events >probes-while-recording
kill -INT $!
wait $!
leftovers | sed 's/^/interrupted: /' >>left

# SIGKILL: the watcher removes the probes.
kmemtrace record -o killed.kmt >/dev/null 2>said &
wait_for_probes
kill -9 $!
wait $!
for _ in $(seq 50); do
  [ -n "$(leftovers)" ] || break
  sleep 0.2
done
leftovers | sed 's/^/killed: /' >>left
exit $failed
