#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Says which files clang-format would change (with --fix: changes them), and what shellcheck says of the scripts.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t sources < <(git ls-files '*.cpp' '*.hpp')
if [[ ${1:-} == --fix ]]; then
  clang-format -i "${sources[@]}"
else
  clang-format --dry-run --Werror "${sources[@]}"
fi

mapfile -t scripts < <(git ls-files | xargs -r grep -lE -m1 '^#!(/usr)?/bin/(env )?(ba)?sh' --)
shellcheck -x "${scripts[@]}"  # with what they source
