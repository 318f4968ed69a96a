#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What docs/tutorial.md does, command by command; it ran as
#   tests/vm/run --file hold_pipes:/bin/hold_pipes docs/tutorial/commands.sh
hold_pipes &
leaking=$!
# What is of no interest: files that are written and gone again.
while :; do date >/tmp/date; cat /tmp/date >/dev/null; rm /tmp/date; done &
busy=$!
run() {
  printf '$ %s\n' "$*"
  "$@"
  echo
}
export COLUMNS=110
run kmemtrace top --batch -n 2 --interval 5s --sort live --limit 5
run kmemtrace top --batch -n 1 --interval 5s --view processes --sort live --limit 3
run kmemtrace record --stacks --duration 30s -o leak.kmt
run kmemtrace leaks leak.kmt --sort growth --limit 3
run kmemtrace leaks leak.kmt --by cache,process --sort growth --limit 4
run kmemtrace graph alloc_pipe_info,free_pipe_info --ret -p $leaking -d 1s -o pipes.kmt --limit 6
run kmemtrace graph pipes.kmt --sort slab-live --limit 3 --top 5
kill $leaking $busy
