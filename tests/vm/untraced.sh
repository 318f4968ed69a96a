#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Records five loads with probes: one trace for each load. The first load is also recorded without probes.
set -u
failed=0

# record NAME COMMAND…
record() {
  name=$1
  shift
  kmemtrace record --stacks -o "$name.kmt" -- "$@" >"$name.said" 2>&1 || {
    echo "record $name: exit code $?"
    cat "$name.said"
    failed=1
  }
}

# Paths make the shell execute programs instead of its own commands.
cat >/tmp/forks <<'END'
for _ in $(seq 600); do /bin/true; /bin/ls / | /bin/sort >/tmp/list; done
for _ in $(seq 60); do /bin/sleep 1 & done
wait
END
cat >/tmp/mounts <<'END'
mkdir /tmp/mnt
for _ in $(seq 300); do
  mount -t tmpfs none /tmp/mnt
  : >/tmp/mnt/file
  mkdir /tmp/mnt/folder
  umount /tmp/mnt
done
END
cat >/tmp/compile <<'END'
for i in $(seq 40); do
  /bin/cc1 -quiet -O2 /source.i -o /tmp/$i.s
  /bin/as /tmp/$i.s -o /tmp/$i.o
done
END

record forks sh /tmp/forks
kmemtrace record --stacks --no-probes -o without.kmt -- sh /tmp/forks >without.said 2>&1 || failed=1
record mounts sh /tmp/mounts
record loopback kernel_loads loopback 1500
record maps kernel_loads maps 400
[ ! -e /bin/cc1 ] || record compile sh /tmp/compile
exit $failed
