# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Steps of a CI script, timed: `step NAME BUDGET` starts one, which may take BUDGET seconds on two quiet cores. The
# script ends with a table of what each took. A step over its budget is flagged, not refused: a busy machine is slower.
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
