# SPDX-License-Identifier: GPL-2.0-or-later
# Records until the OOM killer kills dd, first in a cgroup and then in the whole machine.
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/small
echo 48M >/sys/fs/cgroup/small/memory.max

record() {
  kmemtrace record --flight 60s --trigger oom --stacks -o "$1.kmt" 2>"$1.err" &
  recorder=$!
  # the recorder protects itself when it starts to wait for a kill
  until [ "$(cat /proc/$recorder/oom_score_adj)" = -1000 ]; do sleep 0.2; done
  for process in $(pidof kmemtrace); do
    echo "$(cat /proc/$process/comm) $(cat /proc/$process/oom_score_adj)" >>scores
  done
  for event in oom/mark_victim kmem/kmalloc; do
    cat /sys/kernel/tracing/instances/kmemtrace-*/events/$event/filter >filter.${event#*/}
  done
  sleep 3
}

finish() {
  wait $recorder
  echo $? >"$1.status"
  kmemtrace snapshot --json "$1.oom.kmt" >"$1.oom.json"
  kmemtrace snapshot --json "$1.kmt" >"$1.snapshot.json"
  kmemtrace pages --stalls "$1.kmt" >"$1.stalls.txt"
}

record cgroup
sh -c 'echo $$ >cgroup.pid; echo $$ >/sys/fs/cgroup/small/cgroup.procs; exec dd if=/dev/zero of=/dev/null bs=200M count=1'
finish cgroup
record machine
sh -c 'echo $$ >machine.pid; exec dd if=/dev/zero of=/dev/null bs=930M count=1'
finish machine
ls >names
true
