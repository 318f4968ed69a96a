#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Repeats all measurements of docs/BENCHMARKS.md, including other tools that can be installed here. Writes the tables as
# one document. The document lists the measurements that this machine does not support, with the reason. Needs root, an
# otherwise idle machine, 30 GB of disk space and some hours. With --quick, everything runs in minutes, but the numbers
# are not meaningful.
#   bench/peers.sh [--quick] [FILE]      FILE: build/bench/peers.md
set -uo pipefail
cd "$(dirname "$0")/.." || exit

quick=
file=build/bench/peers.md
for word; do
  case $word in
    --quick) quick=yes ;;
    -*) sed -n '3,7s/^# *//p' "$0" >&2; exit 2 ;;
    *) file=$word ;;
  esac
done
mkdir -p "$(dirname "$file")" || exit
output=$(mktemp)
errors=$(mktemp)
trap 'rm -f "$output" "$errors"' EXIT
failed=0

version_of() {
  local said
  said=$("$@" 2>&1 | head -1) && [[ -n $said ]] && echo "    $said"
}

# measure TITLE [quick options] -- COMMAND…: adds a section with the command's output.
measure() {
  local title=$1 options=()
  shift
  while [[ $1 != -- ]]; do options+=("$1"); shift; done
  shift
  if [[ -z $quick ]]; then options=(); fi
  echo "$title: $* ${options[*]}" >&2
  printf '\n## %s\n\n    %s\n\n' "$title" "$* ${options[*]}" >>"$file"
  if "$@" "${options[@]}" >"$output" 2>"$errors"; then
    cat "$output" >>"$file"
  else
    not_measured "it ended with $?: $(grep -v '^Building' "$errors" | tail -3)" "$output"
    failed=1
  fi
}

not_measured() {
  echo "  not measured: $1" >&2
  printf 'Not measured: %s\n' "$1" >>"$file"
  if (($# > 1)); then cat "$2" >>"$file"; fi
}

without() {  # TITLE REASON
  printf '\n## %s\n\n' "$1" >>"$file"
  echo "$1" >&2
  not_measured "$2"
}

tools/install-packages.sh bench || exit
{
  printf '# Figures of %s\n\n' "$(date -u +%FT%RZ)"
  if [[ -n $quick ]]; then printf 'Quickly, to see that all of it runs: these figures mean little.\n\n'; fi
  printf '%s, %s CPUs (%s), Linux %s; load %s\n\n' \
    "$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)" "$(nproc)" \
    "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)" "$(uname -r)" "$(cut -d' ' -f1-3 /proc/loadavg)"
  version_of g++ --version
  version_of perf --version
  version_of sh -c 'trace-cmd --version | tail -1'
  version_of clickhouse-server --version
  version_of qemu-system-x86_64 --version
  command -v memleak-bpfcc >/dev/null || echo '    bcc memleak is not installed'
} >"$file"

measure 'Reports of the same events' --events 200000 --turns 1 -- bench/run
measure 'Reports of a real recording' --turns 1 -- bench/recorded
measure 'Analysis on one core and on two' --events 200000 --turns 1 --live 200000 -- bench/analysis
measure 'Analysis of 100 million events' --events 200000 --turns 1 --live 200000 -- bench/analysis --events 100000000
measure 'The size of a .kmt' --zstd 3 -- bench/sizes
measure 'Blocks of a .kmt, made and read' \
  --benchmark_min_time=0.05 --benchmark_filter=code_blocks -- build-bench/bench/micro_benchmarks
measure 'The start of a recording' --turns 1 -- bench/start
measure 'What recording costs' --turns 1 --iterations 50000 -- bench/overhead
measure 'What stacks cost' --turns 1 --iterations 10000 -- bench/stacks
measure 'Naming addresses of programs' --programs 5 --addresses 5000 --functions 100 -- bench/user_symbols
measure 'What watching costs' --turns 1 --iterations 50000 -- bench/watching
if [[ -n $quick ]]; then turns=1; else turns=15; fi
measure 'What watching costs a compiler' -- \
  bench/watching --turns $turns -- g++ -O2 -std=c++20 -Isrc -c src/base/text.cpp -o build/bench/text.o
measure 'Recording without loss' --seconds 3 -- bench/sustained
if [[ -n $quick ]]; then rounds=(1 10) ; else rounds=(20 15); fi
measure 'What an investigation costs' -- tests/truth/bench.py build-bench/kmemtrace --tools investigate --beside build --rounds "${rounds[0]}" --seconds "${rounds[1]}"
if command -v qemu-system-x86_64 >/dev/null; then
  measure 'What probes cost' --turns 1 --iterations 50000 --forks 300 -- bench/probes
  measure 'What recording waits costs' --turns 1 --megabytes 200 --forks 200 -- bench/stalls
  measure 'What recording calls costs' --turns 1 --calls 20000 -- bench/calls
else
  without 'What probes cost' 'there is no qemu-system-x86_64'
  without 'What recording waits costs' 'there is no qemu-system-x86_64'
  without 'What recording calls costs' 'there is no qemu-system-x86_64'
fi
if command -v clickhouse-server >/dev/null || [[ -x /usr/bin/clickhouse ]]; then
  measure 'A fleet in ClickHouse' --events 100000 --turns 1 --hosts 1,3 -- bench/fleet
else
  without 'A fleet in ClickHouse' 'there is no clickhouse-server (tools/install-packages.sh test)'
fi

# The measurement of an HTML report of a large trace needs programs that are built with the tests.
events=100000000
if [[ -n $quick ]]; then events=1000000; fi  # the test needs rare events, which traces with fewer events do not contain
if [[ -x build/tests/web/many_events && -d build/web/node_modules ]] && command -v chromium >/dev/null; then
  large=$(mktemp -d -p build)
  if build/tests/web/many_events $events tests/data/amd64-stacks/trace.dat "$large/big.kmt"; then
    began=$(date +%s)
    measure 'A large trace in an HTML report' -- build/kmemtrace report --html "$large/big.html" "$large/big.kmt"
    printf '\n%s s for %s events; %s bytes of .kmt, %s of page\n' $(($(date +%s) - began)) $events \
      "$(stat -c %s "$large/big.kmt")" "$(stat -c %s "$large/big.html")" >>"$file"
    measure 'Its page in a browser' -- \
      node tests/web/check_reports.mjs --modules build/web/node_modules --large "$large/big.html"
  else
    without 'A large trace in an HTML report' 'it could not be made'
  fi
  rm -rf "$large"
else
  without 'A large trace in an HTML report' 'it takes a build with tests in build/ (many_events) and chromium'
fi

echo "Wrote $file" >&2
exit $failed
