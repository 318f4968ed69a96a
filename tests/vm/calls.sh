#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Records what known_calls does, inside the virtual machine.
set -eu
functions=ksys_read,__x64_sys_lseek,do_sys_openat2,vm_mmap_pgoff,kernel_clone
kmemtrace graph $functions --backend bpf --show 'args->flags' --show 'regs->di' --show 'regs->si' --show 'regs->dx' \
  -o calls.kmt -- known_calls known.txt 6 3500 >graph.out 2>graph.err || {
  code=$?
  cat graph.err
  exit $code
}
