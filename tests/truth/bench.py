#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs `investigate`, `leaks` and `top` on planted growth and on healthy loads, and counts how often their answers are
right.

bench.py KMEMTRACE [--seconds N] [--rounds N] [--only NAME,…] [--tools investigate,leaks,top] [--beside LOAD] [--keep DIR]
[--twice]

A question is one run of one tool with one plant or load. A plant is found if a confirmed finding names one of its
functions or caches and its process. A confirmed finding in a healthy load is a false alarm. `top` is asked only about
plants whose objects have a known size. Its answer is right if its interval for the live bytes of the process contains
the number of bytes that the process holds.

Prints a line for each question, and the confusion matrix of each tool. The exit status is 1 after a false alarm, or if
fewer than 95 % of the plants are found. For a wrong answer, the data is kept in DIR. With --twice, a question with a
wrong answer is asked again, and only the second answer counts. The reason is that other processes of the machine may
have allocated memory during the first run."""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

import loads
import plants

HERE = os.path.dirname(os.path.abspath(__file__))

class Running:
    """A running plant or load, and an optional second load that runs at the same time."""

    def __init__(self, name, beside='', per_second=0, after=0, objects=sys.maxsize):
        self.name = name
        self.folders = []
        self.processes = []
        if beside:
            self.start_load(beside)
        if name in plants.PLANTS or name == 'none':
            self.start([sys.executable, os.path.join(HERE, 'plants.py'), name, *map(str, (per_second, after, objects))])
        else:
            self.start_load(name)
        self.process = self.processes[-1]

    def start_load(self, name):
        self.folders.append(tempfile.mkdtemp(prefix='kmemtrace-truth-'))
        self.start([sys.executable, os.path.join(HERE, 'loads.py'), name, self.folders[-1]])

    def start(self, command):
        self.processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                               encoding='utf-8', start_new_session=True))
        self.processes[-1].stdout.readline()

    def end(self):
        for process in self.processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            process.stdout.close()
            try:
                os.rmdir(f'/sys/fs/cgroup/kmemtrace-{process.pid}')  # left by the load cgroup_loop
            except OSError:
                pass
        for folder in self.folders:
            for name in ('mnt', 'm'):
                subprocess.run(['umount', '-l', f'{folder}/{name}'], stderr=subprocess.DEVNULL, check=False)
            shutil.rmtree(folder, ignore_errors=True)


class Answer(NamedTuple):
    confirmed: list  # (functions and caches as text, pid or None) of each confirmed finding
    words: str


def run(command, statuses=(0, 1, 4)):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8', check=False)
    if done.returncode not in statuses:
        raise AssertionError(f'{" ".join(command)}: exit {done.returncode}: {done.stderr}')
    return done


def investigate(program, output, seconds, *options):
    done = run([program, 'investigate', '--for', f'{seconds}s', '-o', output, '--json', *options])
    found = json.loads(done.stdout)
    if found['found'] != (done.returncode == 1):
        raise AssertionError(f'exit {done.returncode}, found: {found["found"]}')
    return found


def describe(found):
    """Returns the first three findings of an investigation as text."""
    return '; '.join(f'{one["certainty"]} {one["function"]} ({one["call_site"]}) by {one["task"]} '
                     f'{one["processes"][0]["process"]} {one["growth"]["bytes_per_s"]:.0f} B/s'
                     for one in found['findings'][:3]) or 'nothing'


def is_named_first(found, kind, pid):
    """True if growth is confirmed, by a finding or by counters, and the first finding names the plant's call site and
    process."""
    if not found['found'] or not found['findings']:  # counters may confirm growth without a finding
        return False
    first = found['findings'][0]
    return (re.search(plants.PLANTS[kind].names, f'{first["call_site"]} {first["function"]}') is not None and
            first['processes'][0]['process'] == pid)


def ask_investigate(program, seconds, folder, *options):
    found = investigate(program, f'{folder}/out', seconds, *options)
    confirmed = []
    for one in found['findings']:
        if one['certainty'] == 'sure':
            caches = ' '.join(cache['name'] for cache in one['caches'])
            stack = ' '.join(frame for site in one['call_sites'][:1] for frame in site['stack'])
            confirmed.append((f'{one["call_site"]} {one["function"]} {caches} {stack}',
                              one['processes'][0]['process'] if one['processes'] else None))
    counters = [state['name'] for state in found['states'] if state['sure']]
    if found['found'] and not confirmed:
        confirmed.append((f'the counters of the kernel: {" ".join(counters)}', None))
    cost = found['cost']
    recorded = found['recording']['seconds'] if found['recording'] else 0
    return Answer(confirmed, f'{describe(found)}; counters that grow: {" ".join(counters) or "none"}; recorded '
                             f'{recorded:.1f} s; {cost["cpu_seconds"]:.2f} s + {cost["kernel_cpu_seconds"]:.2f} s of CPU time')


def ask_leaks(program, seconds, folder):
    trace = f'{folder}/t.kmt'
    run([program, 'record', '-d', f'{seconds}s', '--stacks', '-o', trace])
    found = json.loads(run([program, 'leaks', '--json', trace]).stdout)
    confirmed = []
    for allocator, table in found['groups'].items():
        for row in table['rows']:
            if row['verdict'] == 'certain':
                words = json.dumps(row['keys'])
                pid = row['processes'][0]['process'].get('pid') if row['processes'] else None
                confirmed.append((f'{allocator} ' + ' '.join(re.findall(r'"symbol": "([^"]*)"', words)), pid))
    return Answer(confirmed, '; '.join(words[:100] for words, _ in confirmed[:3]) or 'no growth')


# For each plant, the kernel memory in bytes that one of its objects holds on Linux 6.18. As in `top`, slab objects
# count, but the pages of their slabs do not.
SIZES = {
    'messages': 1024 + 256 / 16,  # kmalloc-1k, and a queue (kmalloc-256) for 16 messages
    'renamed_threads': 1024 + 256 / 16,
    'rings': 4 * 8192 + 3456,  # blocks; socket (packet_sock, inode, file, dentry) and the vector of blocks
    'xattrs': 1024,
    'pipe_data': 8 * 4096 + 2752,  # pages; pipe_inode_info, buffers, inode, dentry and two files
}
HELD_BYTES = 64 << 20


def ask_top(program, name, beside, folder):
    """Returns (True if the interval for the live bytes of the plant's process contains the truth, the answer as text)."""
    objects = int(HELD_BYTES / SIZES[name])
    with open(f'{folder}/frames', 'w+', encoding='utf-8') as frames:
        top = subprocess.Popen([program, 'top', '--json', '--view', 'processes', '--limit', '0'], stdout=frames)
        running = None
        try:
            while frames.tell() == 0:  # wait until top writes its first frame
                time.sleep(0.1)
                frames.seek(0, os.SEEK_END)
            running = Running(name, beside, 20000, 0, objects)
            running.process.stdout.readline()  # "held"
            time.sleep(2.5)
        finally:
            top.send_signal(signal.SIGINT)
            top.wait()
            if running:
                running.end()
        frames.seek(0)
        last = json.loads(frames.readlines()[-1])
    rows = [row for row in last['rows'] if row['name'].endswith(f'-{running.process.pid}')]
    held = objects * SIZES[name] / 2**20
    if len(rows) != 1 or rows[0]['live_bytes'] is None:
        return False, f'{len(rows)} rows for the process: {[row["name"] for row in rows]}'
    live = {key: value / 2**20 for key, value in rows[0]['live_bytes'].items()}
    return live['low'] <= held <= live['high'], (f'{rows[0]["name"]}: {held:.1f} MiB are held, {live["estimate"]:.1f} MiB '
                                                 f'({live["low"]:.1f} to {live["high"]:.1f}) are shown')


ASK = {'investigate': ask_investigate, 'leaks': ask_leaks}


def names_plant(finding, running):
    """True if the finding, (text, pid or None), has a function or cache of the plant, and its process or none."""
    words, pid = finding
    plant = plants.PLANTS[running.name]
    return re.search(plant.names, words) is not None and (plant.in_children or pid in (None, running.process.pid))


def judge(answer, running):
    """Returns (True if the answer is right, the answer as text)."""
    shown = answer.words
    if running.name not in plants.PLANTS:
        return not answer.confirmed, shown
    return any(names_plant(finding, running) for finding in answer.confirmed), shown


def ask(program, tool, name, number, options):
    """Starts the plant or load, and runs the tool. Returns (True if the answer is right, the answer as text)."""
    if tool == 'top':
        with tempfile.TemporaryDirectory(prefix='kmemtrace-truth-') as folder:
            return ask_top(program, name, options.beside, folder)
    running = Running(name, options.beside if name in plants.PLANTS else '')
    with tempfile.TemporaryDirectory(prefix='kmemtrace-truth-') as folder:
        time.sleep(0.5)
        try:
            answer = ASK[tool](program, options.seconds, folder)
        finally:
            running.end()
        good, words = judge(answer, running)
        if not good and options.keep:
            shutil.copytree(folder, f'{options.keep}/{tool}-{name}-{number}', dirs_exist_ok=True)
    return good, words


def print_table(right):
    """Prints the confusion matrix of each tool, with precision and recall. Returns True if all tools are good enough."""
    print(f'\n{"":11} {"plants: found":>14} {"missed":>7} {"healthy: quiet":>15} {"alarm":>6} {"precision":>10} {"recall":>7}')
    good = True
    for tool, counts in right.items():
        (found, planted), (quiet, healthy) = counts[True], counts[False]
        alarms = healthy - quiet
        precision = found / (found + alarms) if found + alarms else 1
        print(f'{tool:11} {found:14} {planted - found:7} {quiet:15} {alarms:6} {precision:10.2f} '
              f'{found / planted if planted else 1:7.2f}')
        good = good and alarms == 0 and found >= 0.95 * planted
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('--seconds', type=int, default=15)
    parser.add_argument('--rounds', type=int, default=1)
    parser.add_argument('--only', default='', help='names of plants and loads, separated by commas')
    parser.add_argument('--tools', default='investigate,leaks,top')
    parser.add_argument('--beside', default='', help='a load that runs at the same time as each plant')
    parser.add_argument('--keep', default='')
    parser.add_argument('--twice', action='store_true')
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    sys.path.insert(0, os.path.join(HERE, '..', 'live'))
    # This import is not at the top of the file, because peers_inside.py imports this file where tests/live/recording.py
    # is missing.
    from recording import why_not_live
    if reason := why_not_live():
        print(f'cannot record here: {reason}')
        sys.exit(1 if os.environ.get('KMEMTRACE_REQUIRE_LIVE') == '1' else 0)
    names = options.only.split(',') if options.only else [*plants.PLANTS, *loads.NAMES]
    right = {tool: {True: [0, 0], False: [0, 0]} for tool in options.tools.split(',')}  # {has plant: [right, all]}
    for number in range(options.rounds):
        for name in names:
            for tool in right:
                if tool == 'top' and name not in SIZES:
                    continue
                for _ in range(2 if options.twice else 1):
                    good, words = ask(program, tool, name, number, options)
                    print(f'{number + 1:3} {name:18} {tool:11} {"right" if good else "WRONG"}  {words}', flush=True)
                    if good:
                        break
                counts = right[tool][name in plants.PLANTS]
                counts[0] += good
                counts[1] += 1
    sys.exit(0 if print_table(right) else 1)


if __name__ == '__main__':
    main()
