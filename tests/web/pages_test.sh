#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Writes HTML reports and opens them in a browser. The environment has NODE and KMEMTRACE_DATA.
#   pages_test.sh large KMEMTRACE WEB_FOLDER CHROMIUM OUT MANY_EVENTS
#     a report with as much data as a page can hold
#   pages_test.sh others KMEMTRACE WEB_FOLDER CHROMIUM OUT
#     reports of real traces and of a trace with hostile names, compared with --json
# If KMEMTRACE_SHOTS=FOLDER is in the environment, saves screenshots of all pages there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
part=$1 kmemtrace=$2 web=$3 chromium=$4 out=$5
data=$KMEMTRACE_DATA
mkdir -p "$out"
cd "$out"

check_reports() { # ARGUMENT...
  local shots=()
  [[ -z ${KMEMTRACE_SHOTS:-} ]] || shots=(--shots "$KMEMTRACE_SHOTS")
  exec "$NODE" "$here/check_reports.mjs" --modules "$web/node_modules" --chromium "$chromium" ${shots[@]+"${shots[@]}"} "$@"
}

if [[ $part == large ]]; then
  "$6" 1000000 "$data/amd64-stacks/trace.dat" large.kmt
  "$kmemtrace" report --html large.html large.kmt
  rm large.kmt
  check_reports --large large.html
fi

documents() { # NAME TRACE
  "$kmemtrace" report --json --limit 2000 "$2" >"$1.report.json"
  "$kmemtrace" report --json --limit 2000 --by cache "$2" >"$1.caches.json"
  "$kmemtrace" report --json --limit 2000 --by comm "$2" >"$1.tasks.json"
  "$kmemtrace" report --json --limit 2000 --by module "$2" >"$1.modules.json"
  "$kmemtrace" report --json --limit 2000 --by subsystem "$2" >"$1.subsystems.json"
  "$kmemtrace" report --json --limit 2000 --by directory "$2" >"$1.directories.json"
  "$kmemtrace" leaks --json "$2" >"$1.leaks.json" || [[ $? =~ ^[14]$ ]]
}

of_trace() { # NAME TRACE
  documents "$1" "$2"
  "$kmemtrace" report --html "$1.html" "$2"
  "$kmemtrace" report --json --limit 2000 --window "$("$NODE" "$here/selected_time.mjs" "$1.html")" "$2" >"$1.window.json"
}

# Names of tasks, call sites, functions in stacks, and events that try to inject markup, or to move the text next to
# them.
hostile_trace() {
  local names=('</script>' '<img src=x onerror=alert(1)>' $'\u202egnp' $'\u05d0\u05d1' "\"'\`\${1}" '__proto__' 'constructor'
    $'\e[31mred' "$(printf 'x%.0s' {1..300})") at=0 name head
  for name in "${names[@]}"; do
    for _ in 1 2 3; do
      at=$((at + 1))
      printf -v head '%16s-%-5d [000] ..... %4d.%06d:' "${name:0:30}" $((at % 6 + 7)) 10 $((at * 100))
      printf '%s kmalloc: call_site=evil_%s+0x1/0x2 ptr=00000000%08x bytes_req=90 bytes_alloc=96 gfp_flags=GFP_KERNEL\n' \
        "$head" "$name" $((at * 256))
      printf '%s <stack trace>\n => evil_%s\n => outer_%s\n' "$head" "$name" "$name"
    done
    printf '%s kfree: call_site=evil_%s+0x1/0x2 ptr=00000000%08x\n' "$head" "$name" $((at * 256 + 64))
  done
}

brief=()
for name in amd64 i386 s390x/trace.lost.dat; do
  trace=$data/$name
  [[ -f $trace ]] || trace=$trace/trace.dat
  short=${name%%/*}
  of_trace "$short" "$trace"
  brief+=(--brief "$short.html")
done
of_trace amd64-stacks "$data/amd64-stacks/trace.dat"

hostile='<img src=x onerror=alert(1)> '$'\u202e''.txt'
hostile_trace >"$hostile"
of_trace hostile "$hostile"
brief+=(--brief hostile.html)

# Reports with calls of kernel functions: more calls than fit on a page, and calls with arguments and interrupts.
of_calls() { # NAME TRACE [OPTION]...
  "$kmemtrace" graph --json --args --ret --limit 0 "${@:3}" "$2" >"$1.graph.json"
  "$kmemtrace" report --html "$1.html" "${@:3}" "$2"
  brief+=(--brief "$1.html")
}
of_calls calls "$data/graph/amd64.dat"
of_calls typed-calls "$data/graph/args.7.2.dat" --btf "$data/graph/args.7.2.btf"

documents two "$data/amd64-5.10/trace.dat"
"$kmemtrace" diff --json --limit 2000 --by call-site "$data/amd64-5.10/trace.dat" "$data/amd64/trace.dat" >two.diff.json
"$kmemtrace" report --html two.html --diff "$data/amd64-5.10/trace.dat" "$data/amd64/trace.dat"
# The first report has the most pages. So this report is also checked in dark colors.
reports=(two.html amd64-stacks.html)

printf '            bash-1977    [000] .....  1000.000001: sched_process_fork: comm=bash pid=1977 child_comm=bash child_pid=1978\n' >none.txt
"$kmemtrace" report --html none.html none.txt

mkdir -p found
"$NODE" "$here/made_findings.mjs" >found/evidence.json
"$kmemtrace" investigate --from found -o found.html >/dev/null || [[ $? == 1 ]]
# Writes the same report with a recording, and with copies of the kernel's files from the start and the end of the time.
mkdir -p recorded
"$NODE" "$here/made_findings.mjs" 10 >recorded/evidence.json
cp "$data/amd64-stacks/trace.dat" recorded/trace.dat
cp -r "$data/snapshot/amd64/before" "$data/snapshot/amd64/after" recorded
"$kmemtrace" investigate --from recorded -o recorded.html >/dev/null || [[ $? == 1 ]]

check_reports --none none.html --found found.html --found recorded.html "${brief[@]}" "${reports[@]}"
