#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests recordings while the system changes, on a stock Debian kernel in a virtual machine: CPUs go offline, modules
replace each other, and process IDs are reused. The output of the program is compared with the test suite's own decoder
and with the notes of the script.
  changes_test.py KERNEL cpus|modules|pids|pinned"""
import collections
import glob
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', folder) for folder in ('support', 'oracle', 'live')]
import kmt_events  # noqa: E402
from kmemtrace import report, run  # noqa: E402
from machine import run_script  # noqa: E402

PART = sys.argv.pop()
KERNEL = sys.argv.pop()
MODULES = ('brd', 'nbd', 'ifb')
CYCLES = 200
HARD_IRQ, SOFT_IRQ, NMI = 0x08, 0x10, 0x40


class Changes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        options = [option for module in MODULES for option in ('--module', module)] if PART == 'modules' else []
        if PART == 'pinned':
            for name in ('early', 'late'):
                options += ['--file', f'{os.environ["PIPE_LOOP"]}:/bin/{name}']
        run_script(f'{PART}.sh', cls.out, '--kernel', KERNEL, '--timeout', '900', *options)
        cls.trace = os.path.join(cls.out, f'{PART}.kmt')


@unittest.skipUnless(PART == 'cpus', 'another part')
class Cpus(Changes):
    def test_all_lost_events_are_counted_by_the_kernel(self):
        file = kmt_events.File(self.trace, heads_only=True)
        recorded = collections.Counter()
        for stream in file.streams.values():
            recorded[stream.cpu] += sum(len(block.records) for block in stream.blocks)
        self.assertEqual({0, 1}, set(recorded))
        counted = {}
        for text in file.cpu_stats:
            numbers = dict(re.findall(r'^(\w[\w ]*): +(\d+)', text.decode(), re.M))
            self.assertEqual('0', numbers['entries'], 'unread events')
            self.assertEqual(('0', '0', '0'), tuple(numbers[name] for name in ('overrun', 'commit overrun', 'dropped events')))
            counted[int(numbers['CPU'])] = int(numbers['read events'])
        self.assertEqual(counted, dict(recorded))
        self.assertGreater(recorded[1], 1000)

    def test_the_trace_shows_cpu_changes(self):
        with open(os.path.join(self.out, 'check.out'), encoding='utf-8') as file:
            [found] = json.load(file)['files']
        changes = next(entry for entry in found['findings'] if entry['kind'] == 'cpu_changed')
        self.assertGreaterEqual(changes['count'], 2 * CYCLES)
        self.assertEqual(0, found['trace']['lost_events'])
        file = kmt_events.File(self.trace, heads_only=True)
        changes = [line.split() for line in file.facts['note:cpu_changes'].decode().splitlines()]
        self.assertEqual(['online', 'offline'] * CYCLES + ['online'], [what for _, cpu, what in changes if cpu == '1'])
        times = [int(ticks) for ticks, _, _ in changes]
        self.assertEqual(sorted(times), times)

    def test_a_trace_dat_shows_cpu_changes(self):
        done = run('check', '--json', os.path.join(self.out, 'cpus.dat'))
        [found] = json.loads(done.stdout)['files']
        changes = next(entry for entry in found['findings'] if entry['kind'] == 'cpu_changed')
        self.assertEqual([(1, 'it went offline'), (1, 'it came online')],
                         [(example['cpu'], example['detail']) for example in changes['examples']])


@unittest.skipUnless(PART == 'pinned', 'another part')
class Pinned(Changes):
    def test_programs_on_an_added_cpu_are_named(self):
        hits = collections.Counter()
        for row in report(self.trace, '--by', 'comm,dso', exit_codes=(0, 1))['groups']['slab']['rows']:
            hits[row['keys']['comm'], row['keys']['dso']] += row['allocations']
        for name in ('early', 'late'):
            of_it = {dso: count for (comm, dso), count in hits.items() if comm == name}
            self.assertGreater(of_it.get('libc.so.6', 0), 1000, of_it)
            # Mappings made just before the CPU's events are opened are unknown, and the trace reports this.
            self.assertLess(of_it.get('[unknown]', 0), of_it['libc.so.6'] / 100, of_it)
            self.assertFalse(({'early', 'late'} - {name}) & of_it.keys(), of_it)

    def test_unknown_mappings_are_reported(self):
        with open(os.path.join(self.out, 'messages'), encoding='utf-8') as file:
            self.assertIn('a CPU came online, 3 times', file.read())
        [found] = [finding for finding in report(self.trace, exit_codes=(0, 1))['findings']
                   if finding['kind'] == 'late_mappings']
        self.assertIn('3 times', found['examples'][0]['detail'])

    def test_the_trace_is_sound(self):
        done = run('check', self.trace)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)


def events_by_time(path):
    """Returns the (time, event) pairs of a .kmt in order of time, read by the test suite's own decoder."""
    file = kmt_events.File(path)
    formats = kmt_events.Formats('<', [text for _, text in file.formats])
    events = []
    for stream in file.streams.values():
        for block in stream.blocks:
            for record in block.records:
                time_ns = file.to_ns(record.ticks)
                events.append((time_ns, formats.event(stream.cpu, time_ns, record.bytes)))
    events.sort(key=lambda event: event[0])
    return events


@unittest.skipUnless(PART == 'pids', 'another part')
class Pids(Changes):
    def test_no_allocation_belongs_to_another_process(self):
        births, expected, lives = {}, collections.Counter(), collections.Counter()
        for time_ns, event in events_by_time(self.trace):
            if event.name == 'task_newtask':
                births[event.fields['pid']] = time_ns
                lives[event.fields['pid']] += 1
            elif event.name in ('kmalloc', 'kmem_cache_alloc', 'kmalloc_node', 'kmem_cache_alloc_node') and \
                    event.fields['ptr'] and not event.flags & (HARD_IRQ | SOFT_IRQ | NMI):
                expected[event.pid, births.get(event.pid, 0)] += 1
        self.assertGreater(max(lives.values()), 2, 'ids did not come back')
        found = collections.Counter()
        for row in report(self.trace, '--by', 'process', seconds=600)['groups']['slab']['rows']:
            process = row['keys']['process']
            if process['pid'] is None:
                continue
            born = process.get('born_ns', births.get(process['pid'], 0))
            found[process['pid'], born] += row['allocations']
        wrong = {key: (expected[key], found[key]) for key in expected.keys() | found.keys() if expected[key] != found[key]}
        self.assertFalse(wrong, f'{len(wrong)} of {len(expected)}: {dict(list(wrong.items())[:5])}')

    def test_children_belong_to_the_process_that_started_them(self):
        rows = report(self.trace, '--by', 'process', '--tree', seconds=600)['groups']['slab']['rows']
        self.assertLess(len(rows), 100)
        by_name = collections.Counter()
        for row in rows:
            by_name[row['keys']['process']['comm']] += row['allocations']
        self.assertEqual('sh', by_name.most_common(1)[0][0])


def symbols_of_module(module):
    """Returns {section: [(offset, name)]} of the functions in the module's file."""
    cache = os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'kmemtrace-vm', 'amd64')
    [found] = glob.glob(f'{cache}/linux-image-{KERNEL}.*/**/kernel/drivers/**/{module}.ko*', recursive=True)[:1]
    with tempfile.NamedTemporaryFile(suffix='.ko') as file:
        with (lzma.open if found.endswith('.xz') else open)(found, 'rb') as packed:
            file.write(packed.read())
        file.flush()
        elf = subprocess.run(['readelf', '-SsW', file.name], stdout=subprocess.PIPE, encoding='utf-8', check=True).stdout
    sections = dict(re.findall(r'^ +\[ *(\d+)\] (\S+)', elf, re.M))
    symbols = collections.defaultdict(list)
    for value, kind, section, name in re.findall(r'^ +\d+: ([0-9a-f]+) +\d+ (\w+) +\w+ +\w+ +(\d+) (\S+)$', elf, re.M):
        if kind == 'FUNC':
            symbols[sections[section]].append((int(value, 16), name))
    return symbols


@unittest.skipUnless(PART == 'modules', 'another part')
class Modules(Changes):
    def test_every_call_site_has_the_right_name(self):
        with open(os.path.join(self.out, 'modules.txt'), encoding='ascii') as file:
            loads = [line.split() for line in file]
        self.assertEqual(50, len(loads))
        places = collections.defaultdict(set)
        for name, _, _, text, _ in loads:
            places[text].add(name)
        symbols = {module: symbols_of_module(module) for module in MODULES}
        done = run('export', self.trace, '--to', 'jsonl', '--size', '1-', seconds=600)
        self.assertEqual(0, done.returncode, done.stderr)
        checked, seen, wrong = 0, set(), collections.Counter()
        for line in done.stdout.splitlines():
            event = json.loads(line)
            symbol = event.get('symbol') or ''
            if 'call_site' not in event or not event['call_site']:
                continue
            address = int(event['call_site'], 16) if isinstance(event['call_site'], str) else event['call_site']
            time = event['time_ns'] / 1e9
            for number, (name, begin, end, text, init) in enumerate(loads):
                if not float(begin) - 0.02 <= time <= float(end) + 0.02:
                    continue
                base = int(text, 16)
                last = max(offset for offset, _ in symbols[name]['.text']) + 0x400
                if base <= address < base + last:
                    begin_of = max(offset for offset, _ in symbols[name]['.text'] if base + offset <= address)
                    names = {f'{function}+{address - base - offset:#x} [{name}]'
                             for offset, function in symbols[name]['.text'] if offset == begin_of}
                    checked += 1
                    seen.add(number)
                    if symbol not in names:
                        wrong[symbol, name] += 1
                elif 0 <= address - int(init, 16) < 0x1000:
                    checked += 1
                    if symbol != f'.init.text+{address - int(init, 16):#x} [{name}]':
                        wrong[symbol, name] += 1
            # A symbol of a module is valid only if the module was loaded at that time.
            module = re.search(r'\[(\w+)\]$', symbol)
            if module and module[1] in MODULES + ('removed',):
                if not any(name == module[1] and float(begin) - 0.02 <= time <= float(end) + 0.02
                           for name, begin, end, _, _ in loads):
                    wrong[symbol, 'not there'] += 1
        self.assertFalse(wrong, wrong.most_common(10))
        self.assertEqual(set(range(len(loads))), seen)
        print(f'{checked} call sites; modules at one address: {max(map(len, places.values()))}', file=sys.stderr)


if __name__ == '__main__':
    unittest.main()
