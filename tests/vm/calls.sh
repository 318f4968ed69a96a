#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Records what known_calls does, inside the virtual machine.
set -eu
kmemtrace graph ksys_read,vfs_llseek,do_sys_openat2,vm_mmap_pgoff,kernel_clone --backend bpf --show 'args->flags' \
  -o calls.kmt -- known_calls known.txt 6 3500 >graph.out 2>graph.err || {
  code=$?
  cat graph.err
  exit $code
}
