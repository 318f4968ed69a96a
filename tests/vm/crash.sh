# SPDX-License-Identifier: GPL-2.0-or-later
# Runs in each of the two boots. The first one records memory that a program does not free, and crashes. The second one
# collects the events. If the memory of the buffer was lost, the second boot crashes again.
echo "boot $(cat /proc/sys/kernel/random/boot_id) text $(grep ' T _text$' /proc/kallsyms | cut -d' ' -f1)"
kmemtrace list --json >list.json
if grep -q '"unread_events": 0' list.json; then
  cat list.json
  kmemtrace list
  kmemtrace record --flight --persistent -o /tmp/flight.kmt &
  cd /sys/kernel/tracing/instances/flight
  until grep -q kmalloc set_event && grep -q 1 tracing_on; do sleep 0.2; done
  sleep 2  # lets the recorder finish its start, in which it allocates memory
  ulimit -n 100000
  planted_memory eventfds 100 &
  sleep 20
  echo "crash at $(cut -d' ' -f1 /proc/uptime)"
  echo c >/proc/sysrq-trigger
fi
kmemtrace list >list.txt
# A recording must not discard the events. If there is a backup instance, the events are also there.
kmemtrace record --flight --persistent -o /tmp/flight.kmt --duration 1s 2>refused.err
echo $? >refused.status
instances=/sys/kernel/tracing/instances
instance=$instances/flight
[ ! -e $instances/flight_backup ] || instance=$instances/flight_backup
cat $instance/last_boot_info >last_boot_info
cat $instance/per_cpu/cpu*/stats >stats
kmemtrace record --boot --previous -o crash.kmt 2>collected.err || cat collected.err
cat collected.err
kmemtrace record --boot --previous -o empty.kmt 2>empty.err
echo $? >empty.status
kmemtrace check --json crash.kmt >check.json
kmemtrace leaks --json --limit 0 crash.kmt >leaks.json
kmemtrace leaks crash.kmt >leaks.txt
kmemtrace report --json --limit 0 --by call-site crash.kmt >report.json
kmemtrace report --json --limit 0 --by process crash.kmt >processes.json
# Then the buffer can be used again. At the end of this recording, the recorder reads the buffer.
kmemtrace record --flight 30s --persistent=flight -o again.kmt -- planted_memory eventfds 100 10 2>again.err
echo $? >again.status
kmemtrace report --json --limit 0 --by call-site again.kmt >again.json
true
