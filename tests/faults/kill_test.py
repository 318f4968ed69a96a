#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Kills recorders at random times. A killed recorder may leave files, but neither processes nor tracing instances. Each
file must be readable up to its last block."""
import argparse
import collections
import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))

from faults_test import INSTANCES, can_record, instances_of, problem_of, wait_until_empty  # noqa: E402
from kmemtrace import PROGRAM  # noqa: E402

MOST_SECONDS = 1.5  # upper limit of the time between start and kill
COMMANDS = {
    'record': ('record', '-o', 'out.kmt', '-d', '20s'),
    'record-bpf': ('record', '--backend', 'bpf', '-o', 'out.kmt', '-d', '20s'),
    'record-dat': ('record', '-o', 'out.dat', '-d', '20s'),
    'record-flight': ('record', '--flight', '1M', '-o', 'out.kmt', '-d', '20s'),
    'record-rotate': ('record', '--rotate', '100ms', '-o', 'out.kmt', '-d', '20s'),
    'record-stacks': ('record', '--stacks=both', '-o', 'out.kmt', '-d', '20s'),
    'graph': ('graph', 'vfs_read', '-a', '-o', 'out.kmt', '-d', '20s'),
    'snapshots': ('snapshot', '--every', '100ms', '--for', '20s', '-o', 'out.kmt'),
    'profile': ('profile', '-o', 'out.kmt', '-d', '20s'),
    'profile-continuous': ('profile', '--continuous', 'out', '--every', '1s', '--format', 'kmt'),
}
AT_THE_END = {'record-dat', 'record-flight', 'profile'}  # these commands write their file when they end
ENOUGH = 10  # rounds per command; at least one of them must leave a file
READERS = {'profile': ('profile', '--show'), 'profile-continuous': ('profile', '--show'),
           'snapshots': ('snapshot', '--json')}
MARK = 'KMEMTRACE_KILL_TEST'
# After a kill the end of the file may be missing, but none of these kinds of damage may occur.
DAMAGES = {'damaged_section', 'damaged_block', 'damaged_page', 'bad_event_format', 'torn_record', 'damaged_stream'}


def processes_with(mark):
    found = []
    for name in os.listdir('/proc'):
        try:
            with open(f'/proc/{name}/environ', 'rb') as file:
                if name.isdigit() and f'{MARK}={mark}'.encode() in file.read():
                    found.append(int(name))
        except OSError:
            pass
    return found


def kill(name, seconds, folder):
    """Runs one round; returns the problems found and the number of readable files."""
    mark, wrong, readable = uuid.uuid4().hex, [], 0
    reader = READERS.get(name, ('check', '--json'))
    os.mkdir(os.path.join(folder, 'out'))  # for --continuous
    process = subprocess.Popen([PROGRAM, *COMMANDS[name]], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env={**os.environ, MARK: mark, 'TMPDIR': folder})
    time.sleep(seconds)
    early = process.poll()
    process.send_signal(signal.SIGKILL)
    process.wait()
    if early is not None:
        wrong.append(f'ended by itself with {early}')
    if left := wait_until_empty(lambda: processes_with(mark), 10):
        wrong.append(f'processes are left: {left}')
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    if left := wait_until_empty(lambda: instances_of({process.pid}), 10):
        wrong.append(f'instances are left: {left}')
        for instance in left:
            os.rmdir(f'{INSTANCES}/{instance}')
    for base, _, files in os.walk(folder):
        for file in files:
            path = os.path.join(base, file)
            if not re.fullmatch(r'out(\.\d{4})?\.kmt|kmemtrace-heap-\w+\.kmt', file):
                wrong.append(f'a file is left: {file}')
            elif problem := problem_of(path, reader, DAMAGES):
                wrong.append(f'{file}: {problem}')
            else:
                readable += 1
    return wrong, readable


def usable(name):
    """False if this kernel does not support the recording mode."""
    if name == 'profile-continuous':
        return usable('profile')
    with tempfile.TemporaryDirectory() as folder:
        command = [word if word != '20s' else '100ms' for word in COMMANDS[name]]
        done = subprocess.run([PROGRAM, *command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode not in (0, 3):
            raise AssertionError(f'{name}: {done.stderr.decode(errors="replace")}')
        return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--rounds', type=int, default=1000)
    parser.add_argument('--seed', type=int, default=time.time_ns() & 0xffffffff)
    parser.add_argument('--command', choices=COMMANDS)
    options = parser.parse_args()
    if not can_record():
        print('cannot record here: this needs root and tracefs')
        return 1 if os.environ.get('KMEMTRACE_REQUIRE_LIVE') == '1' else 77
    names = [name for name in COMMANDS if options.command in (None, name)]
    names = [name for name in names if usable(name) or print(f'{name}: not possible on this kernel')]
    print(f'seed {options.seed}')
    chance, failures, readable = random.Random(options.seed), 0, collections.Counter()
    for number in range(options.rounds):
        name, seconds = names[number % len(names)], chance.uniform(0, MOST_SECONDS)
        folder = tempfile.mkdtemp(prefix='kmemtrace-kill-')
        try:
            wrong, files = kill(name, seconds, folder)
            readable[name] += files
            for line in wrong:
                failures += 1
                print(f'round {number}, {name}, killed after {seconds:.3f} s: {line}', flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print(f'{options.rounds} rounds, {failures} problems; readable files: {dict(readable)}')
    without = [name for name in names if not readable[name] and name not in AT_THE_END]
    if options.rounds >= ENOUGH * len(names) and without:
        print(f'no round of these left a file: {without}')
        failures += 1
    return int(failures > 0)


if __name__ == '__main__':
    sys.exit(main())
