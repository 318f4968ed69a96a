#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs the build into a separate folder, as a package does, and tests the installed files: the program, the library
# with pkg-config and its example, shell completion, and systemd units.
#   install_test.sh BUILD TRACE COMPILER
set -euo pipefail
build=$1 trace=$2 compiler=$3
example=$(dirname "$0")/../../packaging/example/top_sites.cpp
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
fail() { echo "install_test: $*" >&2; exit 1; }

DESTDIR=$place cmake --install "$build" >/dev/null
root=$place$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$build/CMakeCache.txt")

# The program starts under its current name and under the names that it had in 2008.
for name in kmemtrace kmemtraced kmemtrace_check kmemtrace-check kmemtrace-report; do
  "$root/bin/$name" --help >/dev/null || fail "$name does not run"
done

# The results of the library must equal those of the program.
library=$(dirname "$(find "$root" -name libkmemtrace.so)")
pc=$library/pkgconfig/libkmemtrace.pc
[[ -f $pc ]] || fail "libkmemtrace.pc is not installed"
read -ra flags <<<"$(PKG_CONFIG_SYSROOT_DIR=$place PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 \
  PKG_CONFIG_PATH=${pc%/*} pkg-config --cflags --libs libkmemtrace)"
"$compiler" -std=c++20 -Wall -Wextra -Werror "$example" "${flags[@]}" -o "$place/top_sites"
LD_LIBRARY_PATH=$library "$place/top_sites" "$trace" >"$place/sites"
"$root/bin/kmemtrace" report "$trace" --sort live-bytes --json --limit 0 >"$place/report.json"
python3 - "$place/report.json" "$place/sites" <<'EOF'
import json, sys
report = json.load(open(sys.argv[1]))
lines = open(sys.argv[2]).read().splitlines()
groups = report['groups']['slab']['rows']
want = [f"{group['live_bytes']:12}  {group['keys']['call-site']['symbol']}" for group in groups[:5]]
assert lines[:5] == want, (lines[:5], want)
assert f"{report['trace']['events']} events in" in lines[5] and report['trace']['kernel'] in lines[5], lines[5]
EOF
LD_LIBRARY_PATH=$library "$place/top_sites" "$example" 2>"$place/error" && fail "a source file was taken for a trace"
grep -q top_sites.cpp "$place/error" || fail "the error does not name the file"
# The library must export only the symbols that its headers mark as public.
foreign=$(nm -DC --defined-only "$library/libkmemtrace.so" | awk '{$1=$2=""; print}' | grep -E '(^| )kmt::' || true)
[[ -z $foreign ]] || fail "the library exports ${foreign%%$'\n'*}"
if [[ -e /etc/debian_version ]]; then
  (cd "$(dirname "$0")/../.." && dpkg-gensymbols -plibkmemtrace0.1 -c4 -Idebian/libkmemtrace0.1.symbols \
    -e"$(readlink -f "$library/libkmemtrace.so")" -O/dev/null) >"$place/symbols" 2>&1 ||
    fail "debian/libkmemtrace0.1.symbols names others than the library: $(cat "$place/symbols")"
fi

# The installed schemas must accept the output of the program.
schemas=$root/share/kmemtrace/schemas
"$(command -v /usr/bin/python3 || command -v python3)" -W ignore -m jsonschema -i "$place/report.json" --base-uri "file://$schemas/" "$schemas/report-1.json" ||
  fail "the output of report does not match its schema"

# The installed Python package must find the installed library.
package=$(dirname "$(find "$root/lib" -type d -path '*-packages/kmemtrace')")
PYTHONPATH=$package python3 -B - "$trace" "$place/report.json" <<'EOF'
import json, sys
import kmemtrace
assert kmemtrace.open(sys.argv[1]).report(sort='live-bytes') == json.load(open(sys.argv[2]))
EOF

# Checks the files for shells and systemd.
bash -n "$root/share/bash-completion/completions/kmemtrace"
# Pairs of a LINE and its expected completions: commands, options, the values of an option, an argument, and the names
# of 2008.
completed=('kmemtrace rep' 'repair*report' 'kmemtrace report --so' '--sort' 'kmemtrace simulate --goal ' 'given*held'
  'kmemtrace export --to click' 'clickhouse' 'kmemtrace fleet le' 'leaks' 'kmemtrace-report --so' '--sort' 'kmemtraced -' '-b*-d')
timeout -k 5 120 "$(dirname "$0")/zsh_complete" "$root/share/zsh/vendor-completions" "$root/bin" "${completed[@]}" >"$place/zsh" ||
  fail "zsh does not complete: $(tail -n 1 "$place/zsh")"
for ((i = 0; i < ${#completed[@]}; i += 2)); do
  got=$(fish --no-config -c "source $root/share/fish/vendor_completions.d/kmemtrace.fish; complete -C '${completed[i]}'")
  # shellcheck disable=SC2053  # a pattern
  [[ $got == *${completed[i + 1]}* ]] || fail "fish completes '${completed[i]}' with '$got', not ${completed[i + 1]}"
done
for unit in "$root"/lib/systemd/system/*.service; do
  if grep -n '@' "$unit"; then fail "$unit has a place that was not filled in"; fi
done
