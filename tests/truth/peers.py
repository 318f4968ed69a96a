#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks kmemtrace, memleak and `perf kmem` about the same plants and healthy loads, inside a virtual machine.

peers.py KMEMTRACE [--kernel VERSION] [--seconds N] [--only NAME,…] [--tools investigate,leaks,memleak,perf]

Each question starts a new process with the plant or load, and one tool that watches it for N seconds.

kmemtrace gives a verdict. It names a plant if a confirmed finding has one of the plant's functions or caches. For
`investigate`, the finding must also name the plant's process. Any confirmed finding during a healthy load is a false
alarm.

memleak and perf give no verdict. They list call sites, sorted by bytes. memleak lists memory that is still allocated.
perf lists pages that are still allocated, and all allocated slab memory. Such a tool names a plant if one of the first 10
rows of a table has one of the plant's functions. It cannot raise a false alarm.

The exit status is 1 after a false alarm or an error of kmemtrace, or if it names fewer than 95 % of the plants."""
import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import loads
import plants
from python_in_vm import VM, add_python, load_vm_run

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
INSIDE = ('bench.py', 'loads.py', 'plants.py', 'peers_inside.py')
VERDICTS = ('investigate', 'leaks')
FIRST_ROWS = 10
SECONDS_TO_BOOT = 120
SECONDS_PER_QUESTION = 30  # seconds for each question on average, in addition to the recording
# These plants need programs or modules that the virtual machine lacks.
NOT_INSIDE = ('network_devices', 'pseudo_terminals')
# memleak comes from Debian 13, and needs the libraries of Debian 13. Each value maps a file of the package to its name
# in the virtual machine.
SUITE = 'trixie'
MEMLEAK = {'libbpf-tools': {'memleak-libbpf': 'memleak'}, 'libc6': {'ld-linux-x86-64.so.2': 'ld.so', 'libc.so.6': 'libc.so.6'},
           'libelf1t64': {'libelf.so.1': 'libelf.so.1'}, 'zlib1g': {'libz.so.1': 'libz.so.1'},
           'libzstd1': {'libzstd.so.1': 'libzstd.so.1'}}
# Loads that the virtual machine's busybox can run.
HEALTHY = ('idle', 'steady_churn', 'sawtooth', 'startup_burst', 'connections', 'fork_storm', 'mount_loop', 'negative_dentries')


def add_memleak(archive, vm):
    packages = vm.Packages('amd64', SUITE)
    for package, files in MEMLEAK.items():
        folder = packages.get(re.compile(package))
        for name, inside in files.items():
            [path] = {os.path.realpath(os.path.join(where, name)) for where, _, names in os.walk(folder) if name in names}
            archive.add(path, f'memleak/{inside}')


def ask(options, names, folder):
    """Boots the machine. Yields the answer to each question."""
    vm = load_vm_run()
    with tarfile.open(f'{folder}/inside.tar', 'w') as archive:
        add_python(archive, vm.libraries)
        if 'memleak' in options.tools:
            try:
                add_memleak(archive, vm)
            except vm.Skip as reason:
                print(f'no memleak: {reason}')
                options.tools.remove('memleak')
        for name in INSIDE:
            archive.add(os.path.join(HERE, name), f'truth/{name}')
    with open(f'{folder}/script', 'w', encoding='utf-8') as script:
        script.write(f'mkdir -p /mnt && tar -xf /inside.tar -C / && rm /inside.tar && exec {os.path.realpath(sys.executable)} '
                     f'/truth/peers_inside.py {options.seconds} {",".join(names)} {",".join(options.tools)}\n')
    timeout = SECONDS_TO_BOOT + len(names) * len(options.tools) * (options.seconds + SECONDS_PER_QUESTION)
    command = [VM, '--kernel', options.kernel, '--memory', '2048', '--timeout', str(timeout),
               '--file', f'{folder}/inside.tar']
    if 'perf' in options.tools:
        command += ['--file', f'{shutil.which("perf")}:/bin/perf']
    environment = {**os.environ, 'KMEMTRACE': os.path.abspath(options.program)}
    with subprocess.Popen([*command, f'{folder}/script'], stdout=subprocess.PIPE, encoding='utf-8', errors='replace',
                          env=environment) as machine:
        for line in machine.stdout:
            if line.startswith('{'):
                yield json.loads(line)
            else:
                print(line, end='', flush=True)
    if machine.returncode == SKIPPED:
        sys.exit(SKIPPED)


def is_plant(answer):
    return answer['name'] in plants.PLANTS


def verdict(answer):
    """Returns the cell of the table for an answer."""
    if 'error' in answer:
        return 'error'
    rank, rows, judges = answer['rank'], answer['rows'], answer['tool'] in VERDICTS
    if not is_plant(answer):
        return ('alarm' if rows else 'quiet') if judges else f'{rows} rows'
    if rank is None:
        return 'missed'
    if judges:
        return 'named'
    return f'row {rank}' if rank <= FIRST_ROWS else f'missed (row {rank})'


def print_table(answers, names, tools):
    """Prints the table in Markdown. Returns True if kmemtrace was good enough."""
    cells = {(one['name'], one['tool']): verdict(one) for one in answers}
    print(f'\n| | {" | ".join(tools)} |\n|---|{"---|" * len(tools)}')
    for name in names:
        print(f'| `{name}` | {" | ".join(cells.get((name, tool), "") for tool in tools)} |')
    sums, good = [], len(answers) == len(names) * len(tools)  # answers are missing if the machine was stopped
    for tool in tools:
        asked = [one for one in answers if one['tool'] == tool]
        planted = [verdict(one) for one in asked if is_plant(one)]
        named = sum(one == 'named' or one.startswith('row') for one in planted)
        alarms = sum(verdict(one) == 'alarm' for one in asked)
        detail = f'{alarms} false alarms' if tool in VERDICTS else f'{planted.count("row 1")} in row 1'
        sums.append(f'{named} of {len(planted)} named, {detail}')
        if tool in VERDICTS:
            good = good and not alarms and named >= 0.95 * len(planted) and not any('error' in one for one in asked)
    print(f'| all | {" | ".join(sums)} |')
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('--kernel', default='6.1', help='as for tests/vm/run (default: %(default)s)')
    parser.add_argument('--seconds', type=int, default=15)
    parser.add_argument('--only', default='', help='names of plants and loads, separated by commas')
    parser.add_argument('--tools', default='investigate,leaks,memleak,perf')
    options = parser.parse_args()
    options.tools = options.tools.split(',')
    if platform.machine() != 'x86_64':
        print('the machine of tests/vm/run has a kmemtrace only on x86_64')
        sys.exit(SKIPPED)
    if 'perf' in options.tools and not shutil.which('perf'):
        print('no perf: install linux-perf')
        options.tools.remove('perf')
    names = [name for name in (*plants.PLANTS, *HEALTHY) if name not in NOT_INSIDE]
    if options.only:
        names = options.only.split(',')
        if unknown := set(names) - {*plants.PLANTS, *loads.NAMES}:
            parser.error(f'no plant or load {" ".join(unknown)}')
    answers = []
    with tempfile.TemporaryDirectory(prefix='kmemtrace-peers-') as folder:
        for answer in ask(options, names, folder):
            print(f'{answer["name"]:18} {answer["tool"]:11} {verdict(answer):18} '
                  f'{answer.get("error") or "; ".join(answer["first"])[:400]} ({answer.get("took", 0):.0f} s)', flush=True)
            answers.append(answer)
    sys.exit(0 if print_table(answers, names, options.tools) else 1)


if __name__ == '__main__':
    main()
