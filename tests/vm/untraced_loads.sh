#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Loads that use kernel paths without a tracepoint. Prepares them, and defines load_command NAME.

# With a full path, the shell runs the program and not its built-in command.
cat >/tmp/forks <<'END'
for _ in $(seq 600); do /bin/true; /bin/ls / | /bin/sort >/tmp/list; done
for _ in $(seq 60); do /bin/sleep 1 & done
wait
END
cat >/tmp/mounts <<'END'
mkdir -p /tmp/mnt
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

load_command() {
  case $1 in
    loopback) echo kernel_loads loopback 1500 ;;
    maps) echo kernel_loads maps 400 ;;
    *) echo "sh /tmp/$1" ;;
  esac
}
