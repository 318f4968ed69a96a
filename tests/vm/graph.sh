#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Records calls inside the virtual machine, and tries invalid requests. The kernel command line selects the back end.
set -u
backend=$(sed -n 's/.*backend=\([a-z]*\).*/\1/p' /proc/cmdline)
tracing=/sys/kernel/tracing
failed=0

# run NAME CODE COMMAND…: writes the output to NAME.out and NAME.err.
run() {
  name=$1 want=$2
  shift 2
  "$@" >"$name.out" 2>"$name.err"
  code=$?
  [ $code = "$want" ] && return
  echo "$*: exit code $code instead of $want"
  cat "$name.err"
  failed=1
}

graph() {
  name=$1
  shift
  run "$name" 0 kmemtrace graph --backend "$backend" "$@"
}

# Reads 1234, 1234 and 532 bytes and writes the same amounts.
head -c 3000 /dev/zero >/tmp/file
cat >/tmp/copy <<'END'
exec dd if=/tmp/file of=/dev/null bs=1234
END
cat >/tmp/loop <<'END'
while :; do dd if=/tmp/file of=/dev/null bs=1000 2>/dev/null; sleep 0.1; done
END
functions=$(grep -c . $tracing/enabled_functions)

graph text vfs_read,vfs_write --args --ret -o kept.kmt -- sh /tmp/copy
run kept 0 kmemtrace graph kept.kmt --args --ret --limit 0 --json
kmemtrace check --json kept.kmt >check.out
graph json vfs_read vfs_write --args --ret --limit 0 --json -- sh /tmp/copy
graph glob 'vfs_rea?' --no-allocs --json --limit 0 -- sh /tmp/copy
graph many 'vfs_*' --json --limit 0 -- sh /tmp/copy
# The kernel may refuse some of these functions, because seq_printf has variable arguments.
graph some 'seq_*' --json --limit 0 -- sh -c 'cat /proc/self/maps >/dev/null'
errors_only=--errors-only
if [ "$backend" = ftrace ]; then # Debian's kernels are built without function results for ftrace
  errors_only=
  run results 3 kmemtrace graph --backend ftrace vfs_read --errors-only -- touch /tmp/ran
  [ -e $tracing/options/funcgraph-args ] ||
    run chosen 3 kmemtrace graph --backend ftrace vfs_read --where 'count==5' -- touch /tmp/ran
  run returned 3 kmemtrace graph --backend ftrace vfs_read --where 'ret<0' -- touch /tmp/ran
fi
# shellcheck disable=SC2086  # an option, or none
run fails 5 kmemtrace graph --backend "$backend" do_sys_openat2 --json $errors_only -- sh -c 'cat /nowhere 2>/dev/null; exit 5'

sh /tmp/loop &
loop=$!
echo $loop >loop.pid
graph duration vfs_read -p $loop -d 2s --json --limit 0
kmemtrace graph --backend "$backend" vfs_read -p $loop --json --limit 0 >interrupted.out 2>interrupted.err &
graph=$!
for _ in $(seq 600); do
  grep -q Recording interrupted.err && break
  sleep 0.1
done
sleep 2
kill -INT $graph
wait $graph
echo $? >interrupted.code
graph all vfs_read -a -d 1s --json --limit 0
kill $loop
graph written ksys_write --args -- sh -c 'echo no NUL after this'
shows='--show how->flags'
[ "$backend" != ftrace ] || shows=
# shellcheck disable=SC2086  # an option and its value, or none
graph empty do_sys_openat2 --args $shows --json --limit 0 -- sh -c 'cat "" 2>/dev/null; :'
yes | head -c 8000 >/tmp/yes
graph long ksys_write --args --json --limit 0 -- dd if=/tmp/yes of=/dev/null bs=8000
graph never vfs_truncate,ksys_write --args -- sh -c 'echo written'
graph nothing vfs_truncate --args -- true
run where 2 kmemtrace graph --backend "$backend" --where 'cuont==5' vfs_read -- touch /tmp/ran
if [ "$backend" = bpf ]; then
  graph lost vfs_read,vfs_write --buffer-size 8k --no-allocs --json --limit 4 -- dd if=/dev/zero of=/dev/null bs=1 count=3000
  graph maps vm_mmap_pgoff,handle_mm_fault,do_sys_openat2 --args --ret --show 'how->flags' --show 'how->mode' --limit 0 -- \
    sh -c 'echo >/tmp/made'
  graph where_shown do_sys_openat2 --btf /sys/kernel/btf/vmlinux --where 'how->mode==0666' --json -- sh -c 'echo >/tmp/made'
fi
# exit_mmap must be called once, by the command. Before the exec, the new process must not have a copy of the recorder's
# memory.
graph stack do_mmap,exit_mmap --args --json --limit 0 --no-allocs -- /bin/sh -c :
graph page vfs_read --html page.html -- sh /tmp/copy
run flames 0 kmemtrace flamegraph kept.kmt --call-paths -o flames.svg
run timeline 0 kmemtrace export kept.kmt --to perfetto -o timeline.pftrace
run unknown 2 kmemtrace graph --backend "$backend" vfs_raed -- true
run show 3 kmemtrace graph --backend ftrace --show 'file->f_flags' vfs_read -- touch /tmp/ran
case $(uname -r) in 5.* | 6.1.*) run refused 3 kmemtrace graph --backend ftrace vfs_read -- touch /tmp/ran ;; esac
[ ! -e /tmp/ran ] || echo 'the command of a refused recording ran' >ran

# The recorder and its watcher are killed. The next recorder must remove their leftovers.
if [ "$backend" = kprobe ]; then
  kmemtrace graph --backend kprobe vfs_read -a >killed.out 2>killed.err &
  graph=$!
  for _ in $(seq 600); do
    # Tracing is on in a new instance before the probes exist, so both are checked.
    grep -q probe_entry_0 $tracing/kprobe_events &&
      [ "$(cat $tracing/instances/kmemtrace-*/tracing_on 2>/dev/null)" = 1 ] && break
    sleep 0.1
  done
  # pidof would treat a name of 15 letters as truncated.
  watchers=$(grep -lx kmemtrace-watch /proc/[0-9]*/comm 2>/dev/null | cut -d/ -f3)
  # shellcheck disable=SC2086  # a word for each watcher
  kill -9 $watchers $graph
  wait $graph
  rm -r /tmp/kmemtrace-*  # the temporary trace
  grep -c "probe_entry_0" $tracing/kprobe_events >killed.probes
  graph after_kill vfs_read --json --limit 0 -- sh /tmp/copy
  cp $tracing/kprobe_events probes.left
fi

# The settings of the top-level trace buffer must be unchanged.
cat $tracing/current_tracer >left
for leftover in "$tracing"/instances/kmemtrace-* /tmp/kmemtrace-*; do
  [ ! -e "$leftover" ] || echo "$leftover" >>left
done
[ "$(grep -c . $tracing/enabled_functions)" = "$functions" ] || cat $tracing/enabled_functions >>left
[ ! -e $tracing/options/funcgraph-args ] || cat $tracing/options/funcgraph-args >>left
exit $failed
