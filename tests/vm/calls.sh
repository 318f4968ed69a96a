#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Records known_calls inside the virtual machine. The kernel command line selects the back end.
set -eu
backend=$(sed -n 's/.*backend=\([a-z]*\).*/\1/p' /proc/cmdline)
functions=ksys_read,__x64_sys_lseek,do_sys_openat2,vm_mmap_pgoff,kernel_clone
kmemtrace graph $functions --backend "$backend" --show 'args->flags' --show 'regs->di' --show 'regs->si' --show 'regs->dx' \
  -o calls.kmt -- known_calls known.txt 6 3500 >graph.out 2>graph.err || {
  code=$?
  cat graph.err
  exit $code
}
cat graph.err
cat /sys/kernel/tracing/kprobe_events >probes.left
