#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Configures and builds a preset of CMakePresets.json. Shows the progress. If the build fails, prints the compiler's
# output.
#   tools/build.sh PRESET [TARGET…] [-- CMAKE OPTION…]
set -euo pipefail
cd "$(dirname "$0")/.."

preset=$1
shift
targets=()
while (($#)) && [[ $1 != -- ]]; do
  targets+=("$1")
  shift
done
if (($#)); then shift; fi

if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  # Without these settings, ccache does not cache files with precompiled headers.
  export CCACHE_SLOPPINESS=pch_defines,time_macros
  # Relative paths, so that clones in other folders can use the cached objects.
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Shows "[n/m]" and the time since the start. On a terminal, it updates one line; otherwise it prints a line every 30 s.
show_progress() {
  local line start=$SECONDS shown=$SECONDS
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    [[ $line =~ ^\[[0-9]+/[0-9]+\] ]] || continue
    if [[ -t 2 ]]; then
      printf '\r\e[K%s %d s' "${BASH_REMATCH[0]}" $((SECONDS - start)) >&2
    elif ((SECONDS - shown >= 30)); then
      printf '  %s %d s\n' "${BASH_REMATCH[0]}" $((SECONDS - start)) >&2
      shown=$SECONDS
    fi
  done
  if [[ -t 2 ]]; then printf '\r\e[K' >&2; fi
}

build=(cmake --build --preset "$preset")
if ((${#targets[@]})); then build+=(--target "${targets[@]}"); fi
echo "Building (preset $preset)" >&2
if ! { cmake --preset "$preset" "$@" && "${build[@]}"; } 2>&1 | show_progress; then
  cat "$log" >&2
  exit 1
fi
