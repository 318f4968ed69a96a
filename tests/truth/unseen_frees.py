#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares how much slab memory is in use after a load: according to kmemtrace, `perf kmem`, memleak and the kernel.
Each load frees its memory, so a tool that misses frees shows memory that does not exist. The cells of the table have the
KiB in use according to the tool, and in parentheses the change in slabinfo.
  unseen_frees.py KMEMTRACE KERNEL_LOADS [--kernel VERSION] [--out DIR]"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import peers

HERE = os.path.dirname(os.path.abspath(__file__))
VM_FOLDER = os.path.join(HERE, '..', 'vm')


def kmemtrace_bytes(text):
    return json.loads(text)['slab']['live_bytes']


def perf_bytes(text):
    """Returns the difference of two sums of perf."""
    sums = {name: int(value.replace(',', '')) for name, value in re.findall(r'Total bytes (allocated|freed): +([\d,]+)', text)}
    return sums['allocated'] - sums['freed']


def memleak_bytes(text):
    """Returns the sum of the stacks that do not begin in the page allocator."""
    stacks = re.split(r'^(\d+) bytes in \d+ allocations from stack$', text, flags=re.M)
    return sum(int(size) for size, stack in zip(stacks[1::2], stacks[2::2]) if '__alloc_' not in stack.splitlines()[1])


TOOLS = {'kmemtrace': kmemtrace_bytes, 'perf': perf_bytes, 'memleak': memleak_bytes}


def boot(options, folder):
    """Runs the loads. Yields (load, tool, bytes in use before, bytes in use after)."""
    vm = peers.load_vm_run()
    with tarfile.open(f'{folder}/inside.tar', 'w') as archive:
        peers.add_memleak(archive, vm)
    with open(f'{folder}/script', 'w', encoding='utf-8') as script:
        script.write('tar -xf /inside.tar -C / && rm /inside.tar && exec sh /unseen_frees.sh\n')
    files = [f'{folder}/inside.tar', f'{VM_FOLDER}/untraced_loads.sh', f'{HERE}/unseen_frees.sh',
             f'{shutil.which("perf")}:/bin/perf', f'{options.loads}:/bin/kernel_loads']
    command = [peers.VM, '--kernel', options.kernel, '--cpus', '1', '--memory', '3072', '--timeout', '2400', '--out', options.out]
    for file in files:
        command += ['--file', file]
    done = subprocess.run([*command, f'{folder}/script'], stdout=subprocess.PIPE, encoding='utf-8', errors='replace', check=False,
                          env={**os.environ, 'KMEMTRACE': os.path.abspath(options.program)})
    if done.returncode != 0:
        sys.exit(f'{done.stdout}\nthe machine ended with {done.returncode}')
    for load, tool, before, after in re.findall(r'^(\w+) (\w+) (\d+) (\d+)$', done.stdout, flags=re.M):
        yield load, tool, int(before), int(after)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('loads')
    parser.add_argument('--kernel', default='7.3', help='as for tests/vm/run (default: %(default)s)')
    parser.add_argument('--out', help='keep the output of the tools in this folder')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='kmemtrace-unseen-') as folder:
        options.out = options.out or f'{folder}/out'
        cells = {}
        for load, tool, before, after in boot(options, folder):
            with open(f'{options.out}/{load}.{tool}', encoding='utf-8', errors='replace') as file:
                said = TOOLS[tool](file.read())
            cells.setdefault(load, {})[tool] = f'{said / 1024:,.0f} ({(after - before) / 1024:,.0f})'
    print(f'| kernel | load | {" | ".join(TOOLS)} |\n|---|---|{"---|" * len(TOOLS)}')
    for load, said in cells.items():
        print(f'| {options.kernel} | `{load}` | {" | ".join(said[tool] for tool in TOOLS)} |')


if __name__ == '__main__':
    main()
