#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Modules that allocate are loaded and removed one after the other. modules.txt says which one was there when, in
# seconds of the clock that is recorded, and where its code lay.
set -eu
cat >/tmp/changes <<'END'
seconds() { cut -d' ' -f1 /proc/uptime; }
cycle=0
while [ $cycle -lt 50 ]; do
  # By turns, so that each takes the place of another one.
  case $((cycle % 3)) in
    0) name=brd options=rd_nr=2 ;;
    1) name=nbd options=nbds_max=2 ;;
    2) name=ifb options=numifbs=2 ;;
  esac
  # The recorder reads the symbols of each module when it is first loaded, and those of the kernel before, for the next.
  if [ $cycle -lt 3 ]; then for _ in 1 2 3 4; do cat /proc/kallsyms >/dev/null; done; fi
  begin=$(seconds)
  insmod /kmod/$name.ko $options
  sleep 0.2
  text=$(cat /sys/module/$name/sections/.text)
  init=$(cat /sys/module/$name/sections/.init.text)
  rmmod $name
  echo "$name $begin $(seconds) $text $init" >>/out/modules.txt
  cycle=$((cycle + 1))
done
END
kmemtrace record --no-progress --clock mono -b 16M -o modules.kmt -- sh /tmp/changes
