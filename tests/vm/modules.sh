#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Loads and removes modules that allocate, one after the other. modules.txt lists when each module was loaded, in
# seconds of the recorded clock, and the address of its code.
set -eu
cat >/tmp/changes <<'END'
seconds() { cut -d' ' -f1 /proc/uptime; }
cycle=0
while [ $cycle -lt 50 ]; do
  # The modules take turns, so that each is loaded at the address of another.
  case $((cycle % 3)) in
    0) name=brd options=rd_nr=2 ;;
    1) name=nbd options=nbds_max=2 ;;
    2) name=ifb options=numifbs=2 ;;
  esac
  # When a module is first loaded, the recorder reads the symbols of the module, and before that those of the kernel.
  # Wait for both before the next module.
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
