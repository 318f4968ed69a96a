#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the program's commands inside the virtual machine. Each command must succeed.
set -u
failed=0

# run NAME COMMAND…: writes the output to NAME.out and NAME.err.
run() {
  name=$1
  shift
  "$@" >"$name.out" 2>"$name.err" && return
  code=$?
  # BPF programs miss events if they interrupt each other. `check` reports missed events and then exits with 1.
  case "$name:$code" in check-bpf*:1) return ;; esac
  echo "$*: exit code $code"
  cat "$name.err"
  failed=1
}

# Starts a hundred processes, which use pipes and files.
cat >/tmp/workload <<'END'
for _ in $(seq 50); do find /sys/kernel/mm | sort >/tmp/list; done
END

run list kmemtrace list
run snapshot kmemtrace snapshot --json --limit 0
run snapshot-file kmemtrace snapshot -o snapshot.kmt
# The kernel keeps each of these cgroups until the pages of its file are freed.
jobs=/sys/fs/cgroup/jobs
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir $jobs
echo +memory >$jobs/cgroup.subtree_control
for job in $(seq 30); do
  mkdir $jobs/"$job"
  sh -c "echo \$\$ >$jobs/$job/cgroup.procs; exec dd if=/dev/zero of=/tmp/job-$job bs=64k count=1" 2>/dev/null
  rmdir $jobs/"$job"
done
cat $jobs/cgroup.stat >jobs.stat
run snapshot-dying kmemtrace snapshot --json --limit 0
run snapshot-dying-text kmemtrace snapshot --limit 0
rm /tmp/job-*
run record kmemtrace record -o trace.kmt -- sh /tmp/workload
# The test computes the expected report from tracepoints only, so this recording has no probes.
run record-dat kmemtrace record --no-probes -o trace.dat -- sh /tmp/workload
set -- trace.kmt trace.dat
case $(uname -r) in
  5.10.*) # 5.10 lacks features that the BPF back end needs
    kmemtrace record --backend bpf -o bpf.kmt -- sh /tmp/workload 2>refused.err
    echo $? >refused.code
    ;;
  *)
    run record-bpf kmemtrace record --backend bpf -o bpf.kmt -- sh /tmp/workload
    run record-bpf-stacks kmemtrace record --backend bpf --stacks -o bpf-stacks.kmt -- sh /tmp/workload
    set -- "$@" bpf.kmt bpf-stacks.kmt
    ;;
esac
for trace; do
  run "check-$trace" kmemtrace check --json "$trace"
  run "report-$trace" kmemtrace report --json --limit 1000000 "$trace"
done
run stat kmemtrace stat --json -- sh /tmp/workload
run top kmemtrace top --json --interval 500ms --limit 1000 -- sh /tmp/workload
run top-batch kmemtrace top --batch --raw --interval 100ms --limit 0 -- sh /tmp/workload
run profile kmemtrace profile --json --rate 4K -- sh /tmp/workload
# Starts the program like the systemd units do: with their capabilities, and as an unprivileged user.
capabilities=$(sed -n 's/^AmbientCapabilities=//p' /unit | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
# shellcheck disable=SC3045 # LimitMEMLOCK; busybox has it
ulimit -l unlimited
run stat-of-unit /bin/setpriv-of-util-linux --reuid 65534 --regid 65534 --clear-groups --inh-caps "$capabilities" \
  --ambient-caps "$capabilities" -- kmemtrace stat --json -d 100ms
run profile-pb kmemtrace profile --of both --rate 16K -o heap.pb.gz -- sh /tmp/workload
exit $failed
