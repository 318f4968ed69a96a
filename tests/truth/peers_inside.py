#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks kmemtrace, memleak and perf about plants and loads. peers.py runs this program inside a virtual machine.

peers_inside.py SECONDS NAMES TOOLS
NAMES and TOOLS are separated by commas. Prints one line of JSON for each question. `rows` is the number of rows of the
answer, and `rank` the number of the first row that names the plant, or null. The rows of kmemtrace are its confirmed
findings. The rows of memleak and perf are sorted by bytes."""
import json
import re
import subprocess
import sys
import tempfile
import time

import bench
import plants

MEMLEAK = '/memleak/memleak'
LATEST_END = 90  # seconds that a tool may need after the recording


def output_of(command, seconds, stdout=subprocess.PIPE, **options):
    """Returns the output of a tool as text. The tool is killed if it does not end in time."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, encoding='utf-8',
                          errors='replace', check=False, timeout=seconds + LATEST_END, **options)
    if done.returncode != 0:
        raise AssertionError(f'{" ".join(command)}: exit {done.returncode}: {done.stderr[-300:]}')
    return done.stdout


def ask_investigate(seconds, folder):
    # The emulated processor is slow, so investigate may use all of it.
    return [bench.ask_investigate('kmemtrace', seconds, folder, '--cpu', '100').confirmed]


def ask_leaks(seconds, folder):
    return [bench.ask_leaks('kmemtrace', seconds, folder).confirmed]


def ask_memleak(seconds, _):
    """Returns the stacks with outstanding allocations."""
    shown = output_of(['/memleak/ld.so', '--library-path', '/memleak', MEMLEAK, '--top', '100000', str(seconds), '1'],
                      seconds)
    stacks = re.split(r'^\d+ bytes in \d+ allocations from stack$', shown, flags=re.M)[1:]
    return [[(stack, None) for stack in stacks]]


def ask_perf(seconds, folder):
    """Returns the table of slab call sites, sorted by all allocated bytes, and the table of pages that are still
    allocated. perf has no table of slab memory that is still allocated."""
    # perf record would write its data to a pipe instead of a file.
    output_of(['perf', 'kmem', '--slab', '--page', 'record', 'sleep', str(seconds)], seconds, subprocess.DEVNULL, cwd=folder)
    by_bytes = ['--caller', '--sort', 'bytes']
    shown = output_of(['perf', 'kmem', '--slab', *by_bytes, '--page', *by_bytes, '--live', 'stat'], 0, cwd=folder)
    return perf_tables(shown)


def perf_tables(shown):
    """Returns the rows of each table that has call sites."""
    tables = []
    for line in shown.splitlines():
        if 'Callsite' in line:
            tables.append([])
        elif '|' in line and tables:
            tables[-1].append((line, None))
    return tables


ASK = {'investigate': ask_investigate, 'leaks': ask_leaks, 'memleak': ask_memleak, 'perf': ask_perf}


def rank_in(rows, running):
    """Returns the number of the first row that names the plant, or None."""
    if running.name not in plants.PLANTS:
        return None
    return next((number for number, row in enumerate(rows, 1) if bench.names_plant(row, running)), None)


def ask(tool, name, seconds):
    begin = time.monotonic()
    running = bench.Running(name)
    try:
        time.sleep(0.5)
        with tempfile.TemporaryDirectory() as folder:
            tables = ASK[tool](seconds, folder)
        if running.process.poll() is not None:
            raise AssertionError('the plant or load has ended')
        ranks = [rank_in(rows, running) for rows in tables]
        return {'rank': min((rank for rank in ranks if rank), default=None), 'rows': sum(map(len, tables)),
                'first': [' '.join(rows[0][0].split()) for rows in tables if rows], 'took': time.monotonic() - begin}
    except (AssertionError, subprocess.TimeoutExpired) as error:
        return {'error': str(error)}
    finally:
        running.end()


def main():
    seconds, names, tools = int(sys.argv[1]), sys.argv[2].split(','), sys.argv[3].split(',')
    for name in names:
        for tool in tools:
            print(json.dumps({'name': name, 'tool': tool, **ask(tool, name, seconds)}), flush=True)


if __name__ == '__main__':
    main()
