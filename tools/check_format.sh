#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Checks the format of C++ with clang-format (with --fix: changes it), scripts with shellcheck, that no merge left marks,
# and the English of comments and documents.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t sources < <(git ls-files '*.cpp' '*.hpp')
if [[ ${1:-} == --fix ]]; then
  clang-format -i "${sources[@]}"
else
  clang-format --dry-run --Werror "${sources[@]}"
fi

mapfile -t scripts < <(git ls-files | xargs -r grep -lE -m1 '^#!(/usr)?/bin/(env )?(ba)?sh' --)
shellcheck -x "${scripts[@]}"  # -x also checks the files that they source

if git grep -nE '^(<{7}|>{7}) ' -- . ':!tests/data'; then
  echo "These lines are left from a merge." >&2
  exit 1
fi

tools/check_prose.py
