#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs clang-tidy over every source file of src/ as build/ compiles it.
#   tools/check_tidy.sh [REGEX ON PATHS]
set -euo pipefail
cd "$(dirname "$0")/.."

run-clang-tidy -quiet -p build -j "$(nproc)" "${1:-$PWD/src/.*}" 2>&1 | { grep -vE '^(clang-tidy-|[0-9]+ warnings? )' || true; }
