#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures how often `investigate` finds a planted leak, and how often it reports a leak without one.

investigate_rounds.py KMEMTRACE [ROUNDS] [SECONDS] [KIND,...] [AFTER]
Runs ROUNDS rounds (default 20, of 15 seconds) for each KIND of planted leak, and the same number without a leak. A
small build runs at the same time, as do all other programs of the machine. Prints a line per round and a table. The
exit status is 1 if fewer than 19 of 20 planted leaks were named first, or if a leak was reported without one. Each leak
starts AFTER that number of seconds (default 0: before `investigate` starts). The data of wrong rounds is saved in the
folder $KEEP_WRONG, for `kmemtrace investigate --from`."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import growth_plants

PLANTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'growth_plants.py')
# Short-lived processes, files and compilers, which do not leak.
BUILD = ('while :; do for i in 1 2 3; do printf "#include <stdio.h>\\n#include <stdlib.h>\\nint f%d(int a){return a*%d;}\\n" '
         '$i $i > f$i.c; cc -O2 -c f$i.c -o f$i.o 2>/dev/null || cat f$i.c > f$i.o; done; cat f*.o > all.o; '
         'find /usr/include -name "*.h" | head -200 | xargs cat | sort | tail -1 > out.txt; rm -f f*.o; done')


class Plant:
    """A program that leaks (kind "none": no program), and a build that runs at the same time."""

    def __init__(self, kind, per_second=200, after=0):
        self.folder = tempfile.TemporaryDirectory()
        self.build = subprocess.Popen(['sh', '-c', BUILD], cwd=self.folder.name, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, start_new_session=True)
        self.process = None
        if kind != 'none':
            self.process = subprocess.Popen([sys.executable, PLANTS, kind, str(per_second), str(after)],
                                            stdout=subprocess.PIPE, encoding='utf-8')
            self.process.stdout.readline()

    def end(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
        os.killpg(self.build.pid, 9)
        self.build.wait()
        self.folder.cleanup()


def investigate(program, output, seconds, *options):
    done = subprocess.run([program, 'investigate', '--for', f'{seconds}s', '-o', output, '--json', *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8', check=False)
    if done.returncode not in (0, 1, 4):
        raise AssertionError(f'exit {done.returncode}: {done.stderr}')
    found = json.loads(done.stdout)
    if found['found'] != (done.returncode == 1):
        raise AssertionError(f'exit {done.returncode}, found: {found["found"]}')
    return found


def is_named_first(found, kind, pid):
    """True if the first finding is certain and names the call site and process of the planted leak."""
    if not found['found'] or not found['findings']:  # the kernel's counters alone may show the growth
        return False
    first = found['findings'][0]
    named = ' '.join([first['call_site'], first['function']])
    return (re.search(growth_plants.CALL_SITES[kind], named) is not None and first['processes'][0]['process'] == pid)


def other_plants():
    """Processes of other tests that make memory grow. `investigate` may correctly report these."""
    found = []
    for name in os.listdir('/proc'):
        try:
            with open(f'/proc/{name}/cmdline', 'rb') as file:
                arguments = file.read().split(b'\0')
            if any(one.endswith(b'growth_plants.py') for one in arguments) and b'none' not in arguments:
                found.append(int(name))
        except (OSError, ValueError):
            continue
    return found


class Bystanders(threading.Thread):
    """Checks continuously whether planted leaks of other tests run."""

    def __init__(self, own):
        super().__init__()
        self.own = own
        self.seen = False
        self.ended = threading.Event()

    def run(self):
        while not self.ended.wait(0.5):
            self.seen = self.seen or any(process != self.own for process in other_plants())

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


def describe(found):
    return '; '.join(f'{one["certainty"]} {one["function"]} ({one["call_site"]}) by {one["task"]} '
                     f'{one["processes"][0]["process"]} {one["growth"]["bytes_per_s"]:.0f} B/s'
                     for one in found['findings'][:3]) or 'nothing'


def one_round(program, kind, seconds, number, after):
    """Returns whether the result was right, and a line that describes it. None if a planted leak of another test ran
    at the same time."""
    if other_plants():
        time.sleep(5)
        return None
    plant = Plant(kind, after=after)
    try:
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, 'out')
            with Bystanders(plant.process.pid if plant.process else 0) as others:
                found = investigate(program, output, seconds)
            if others.seen:
                return None
            good = is_named_first(found, kind, plant.process.pid) if plant.process else found['verdict'] == 'no_growth'
            if not good and 'KEEP_WRONG' in os.environ:
                shutil.copytree(output, os.path.join(os.environ['KEEP_WRONG'], f'{kind}-{number}'))
        cost = found['cost']
        recorded = found['recording']['seconds'] if found['recording'] else 0
        ended = ''.join(f'{one["what"]}; ' for one in found['unseen'] if one['what'].startswith('samples after'))
        return good, (f'{describe(found)}; {ended}recorded {recorded:.1f} s; {cost["cpu_seconds"]:.2f} s + '
                      f'{cost["kernel_cpu_seconds"]:.2f} s of CPU time')
    finally:
        plant.end()


def main():
    program = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 15
    kinds = sys.argv[4].split(',') if len(sys.argv) > 4 else [*growth_plants.CALL_SITES, 'none']
    after = float(sys.argv[5]) if len(sys.argv) > 5 else 0
    good = dict.fromkeys(kinds, 0)
    for number in range(rounds):
        for kind in kinds:
            while (done := one_round(program, kind, seconds, number + 1, after)) is None:
                pass
            right, words = done
            good[kind] += right
            print(f'{number + 1:3} {kind:8} {"right" if right else "WRONG"}  {words}', flush=True)
    bad = False
    for kind, count in good.items():
        print(f'{kind:8} {count} of {rounds}')
        bad = bad or count < (rounds if kind == 'none' else rounds - (rounds + 19) // 20)
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
