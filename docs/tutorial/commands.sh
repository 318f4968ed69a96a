#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the commands of docs/tutorial.md in a virtual machine:
#   tests/vm/run --timeout 600 --out docs/tutorial --file hold_pipes:/bin/hold_pipes docs/tutorial/commands.sh
hold_pipes &
leaking=$!
# Other work that does not leak: a file is written and removed each second.
while :; do date >/tmp/date; cat /tmp/date >/dev/null; rm /tmp/date; sleep 1; done &
busy=$!
run() {
  printf '$ %s\n' "$*"
  "$@"
  echo
}
export COLUMNS=100
run kmemtrace top --batch -n 2 --interval 5s --sort live --limit 4
run kmemtrace top --batch -n 1 --interval 5s --view processes --sort live
run kmemtrace record --stacks --duration 30s -o leak.kmt
run kmemtrace leaks leak.kmt --sort growth --limit 3
run kmemtrace graph alloc_pipe_info,free_pipe_info --ret -p $leaking -d 1s -o pipes.kmt --limit 4
run kmemtrace investigate --for 1m -o leak.html
kill $leaking $busy
