# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Measures the time of each step of a CI script. `step NAME BUDGET` starts a step, which may take BUDGET seconds on two
# idle cores. At the end, the script prints a table of the steps' times. A step over its budget is marked but does not
# fail, because a busy machine is slower.
steps=()

end_step() {
  ((${#steps[@]})) || return 0
  steps[-1]+=$'\t'$((SECONDS - step_start))
}

step() {
  end_step
  steps+=("$1"$'\t'"$2")
  step_start=$SECONDS
  printf '\n== %s (%d s) ==\n' "$1" "$SECONDS"
}

print_steps() {
  end_step
  printf '\n%7s %7s  %s\n' seconds budget step
  local line name budget took
  for line in "${steps[@]}"; do
    IFS=$'\t' read -r name budget took <<<"$line"
    printf '%7d %7d  %s%s\n' "$took" "$budget" "$name" "$( ((took <= budget)) || echo '  OVER ITS BUDGET')"
  done
  printf '%7d %7s  all\n' "$SECONDS" ''
}

trap print_steps EXIT
