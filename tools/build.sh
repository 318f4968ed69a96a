#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Configures and builds a preset of CMakePresets.json, quietly unless it fails.
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
  export CCACHE_SLOPPINESS=pch_defines,time_macros  # as it wants for precompiled headers
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
build=(cmake --build --preset "$preset")
if ((${#targets[@]})); then build+=(--target "${targets[@]}"); fi
echo "Building (preset $preset)" >&2
if ! { cmake --preset "$preset" "$@" && "${build[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
