#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the static recorder, /bin/recorder, inside the virtual machine. Each command must succeed.
set -u
failed=0

# run NAME COMMAND…: writes the output to NAME.out and NAME.err.
run() {
  name=$1
  shift
  recorder "$@" >"$name.out" 2>"$name.err" && return
  code=$?
  case "$name:$code" in check-bpf*:1) return ;; esac # BPF programs may miss events, and `check` then exits with 1
  echo "$*: exit code $code"
  cat "$name.err"
  failed=1
}

cat >/tmp/workload <<'END'
for _ in $(seq 20); do find /sys/kernel/mm | sort >/tmp/list; done
END

uname -r >release
run list list
run snapshot snapshot --json --limit 0
run record record -o trace.kmt -- sh /tmp/workload
run stacks record --stacks -o stacks.kmt -- sh /tmp/workload
# The test computes the expected report from tracepoints only, so this recording has no probes.
run record-dat record --no-probes -o trace.dat -- sh /tmp/workload
# One recorder runs another, so that both record the same workload.
run both record --no-probes -o both.dat -- recorder record --no-probes -o both.kmt -- sh /tmp/workload
run stat stat --json -- sh /tmp/workload
for trace in trace.kmt trace.dat stacks.kmt both.kmt both.dat; do
  run "check-$trace" check --json "$trace"
done
recorder record -d 4s -o memory.kmt 2>memory.err &
recorder=$!
sleep 3
grep VmHWM /proc/$recorder/status >memory.status
wait $recorder || failed=1
run convert convert trace.dat converted.kmt
# Cuts off the last part of a trace that has several blocks of events, because blocks are written after a second at the
# latest. Most of a short trace is the kernel's symbols, which come before the events. A trace of nothing shows their size.
run long record -o long.kmt -- sh -c 'sh /tmp/workload; sleep 3; sh /tmp/workload'
run nothing record -o nothing.kmt -- true
head -c $((($(stat -c %s nothing.kmt) + 3 * $(stat -c %s long.kmt)) / 4)) long.kmt >cut.kmt
run repair repair cut.kmt -o repaired.kmt

# Kills a recorder.
recorder record -o killed.kmt -d 600s >killed.out 2>killed.err &
killed=$!
for _ in $(seq 300); do
  ls killed.kmt* >/dev/null 2>&1 && break
  sleep 0.2
done
sh /tmp/workload
sleep 3 # longer than a block waits until it is written
grep VmHWM "/proc/$killed/status" >memory
kill -9 $killed
for _ in $(seq 300); do
  ls -d /sys/kernel/tracing/instances/kmemtrace-* >left 2>/dev/null || break
  sleep 0.2
done
run repair-killed repair killed*.kmt* -o repaired-killed.kmt

started=$(cut -d' ' -f1 /proc/uptime)
for _ in $(seq 10); do recorder --version >/dev/null; done
echo "$started $(cut -d' ' -f1 /proc/uptime)" >starts

if [ -e /sys/kernel/btf/vmlinux ]; then
  # On riscv64, the kernel compiles BPF programs only if asked. Since Linux 6.2, the programs call a kernel function,
  # which needs that.
  if [ "$(uname -m)" = riscv64 ]; then
    recorder record --backend bpf -o refused.kmt -d 1s 2>jit.err
    echo $? >jit.code
    echo 1 >/proc/sys/net/core/bpf_jit_enable
  fi
  run record-bpf record --backend bpf -o bpf.kmt -- sh /tmp/workload
  run check-bpf.kmt check --json bpf.kmt
  run top top --batch --raw --interval 100ms --limit 0 -- sh /tmp/workload
  run profile profile --json --rate 4K -- sh /tmp/workload
fi
recorder report trace.kmt 2>report.err
echo $? >report.code
exit $failed
