#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares `pages --json` with results from trace-cmd's text, on traces of five kernels and on generated traces. The
generated traces have rare cases: fallbacks of every order, interleaved drains and refills of tasks, failures, and
blocks freed in parts."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import pages_oracle  # noqa: E402
import tracedat  # noqa: E402
from kmemtrace import data, run  # noqa: E402

PAGE = 4096
PAGEBLOCK_ORDER = {'amd64': 9, 'amd64-5.10': 9, 'amd64-stacks': 9, 'arm64': 9, 'i386': 9, 's390x': 8}
HARDIRQ, SOFTIRQ = 0x08, 0x10


def pages(path, *options):
    done = run('pages', path, '--json', '--limit', '0', *options)
    if done.returncode != 0:
        raise AssertionError(f'pages {path}: exit {done.returncode}: {done.stderr}')
    return json.loads(done.stdout)


class Case(unittest.TestCase):
    maxDiff = None

    def assert_same(self, want, got):
        found = pages_oracle.differences(want, got)
        if found:
            self.fail(f'{len(found)} differences:\n' + '\n'.join(found[:20]))

    def written(self, contents):
        file = tempfile.NamedTemporaryFile(suffix='.dat')
        self.addCleanup(file.close)
        file.write(contents)
        file.flush()
        return file.name

    def check(self, path, kernel, events=None):
        """Checks the trace, and the same trace as .kmt."""
        events = events or pages_oracle.page_events(path)
        want = pages_oracle.Pages(events, PAGE, PAGEBLOCK_ORDER[kernel])
        self.assert_same(want, pages(path))
        with tempfile.TemporaryDirectory() as folder:
            converted = os.path.join(folder, 'same.kmt')
            done = run('convert', path, converted)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assert_same(want, pages(converted))
        return want


class RealTraces(Case):
    def test_each_trace(self):
        for kernel in PAGEBLOCK_ORDER:
            for name in sorted(os.listdir(data(kernel))):
                if name.endswith('.dat') and 'stack' not in kernel + name:
                    with self.subTest(f'{kernel}/{name}'):
                        want = self.check(data(f'{kernel}/{name}'), kernel)
                        self.assertGreater(want.events, 0)

    def test_version_6(self):
        packed = subprocess.run(['zstd', '-q', '-d', '-c', data('s390x/trace.v6.dat.zst')], stdout=subprocess.PIPE, check=True)
        self.check(self.written(packed.stdout), 's390x')

    def test_no_page_events(self):
        got = pages(data('s390x/trace.stack.dat'))
        self.assertEqual((0, [], []), (got['trace']['events'], got['tasks'], got['types']))

    def test_the_kernels_page_blocks(self):
        """PAGEBLOCK_ORDER must have the values that trace-cmd computes from the print formats."""
        seen = {}
        for kernel in ('amd64-5.10', 'arm64', 'i386', 's390x'):
            for line in pages_oracle.text_of(data(f'{kernel}/trace.dat')).splitlines():
                if match := re.search(r'mm_page_alloc_extfrag:.* pageblock_order=(\d+)', line):
                    seen[kernel] = int(match[1])
        self.assertEqual({kernel: PAGEBLOCK_ORDER[kernel] for kernel in seen}, seen)
        self.assertGreater(len(seen), 2)


class Generator:
    """Generates random page events in the formats of a real trace. Each task repeats the same action for a while."""

    def __init__(self, kernel, seed):
        self.trace = tracedat.read(data(f'{kernel}/trace.dat'))
        self.formats = tracedat.formats(self.trace)
        self.random = random.Random(seed)
        known = [int(line.split()[0]) for line in self.trace.cmdlines.decode().splitlines() if line.split()[:1]]
        self.tasks = [tid for tid in known if tid > 0][:6] + [0, 3999999]
        self.doing = {}
        self.live = []

    def record(self, name, tid, flags, **values):
        number, fields = self.formats[name]
        raw = bytearray(-(-max(field.offset + field.size for field in fields.values()) // 4) * 4)
        values.update(common_type=number, common_flags=flags, common_pid=tid)
        for field, value in values.items():
            if field in fields:
                at = fields[field]
                raw[at.offset:at.offset + at.size] = (value % (1 << 8 * at.size)).to_bytes(
                    at.size, 'big' if self.trace.order == '>' else 'little')
        return bytes(raw)

    def event(self, tid, flags):
        pick = self.random
        name = self.doing.get((tid, flags))
        if name is None or pick.random() < 0.3:
            name = pick.choice(['mm_page_alloc'] * 3 + ['mm_page_free'] * 2 + ['mm_page_free_batched', 'mm_page_pcpu_drain',
                               'mm_page_alloc_zone_locked', 'mm_page_alloc_extfrag'])
            self.doing[tid, flags] = name
        order = pick.choice((0, 0, 0, 1, 2, 3, 9))
        pfn = pick.randrange(1 << 12) << 4
        kind = pick.randrange(5)
        if name == 'mm_page_alloc' and pick.random() < 0.1:
            pfn = -1
        elif name == 'mm_page_alloc':
            self.live.append((pfn, order))
        elif name == 'mm_page_free' and self.live and pick.random() < 0.8:
            pfn, order = self.live.pop(pick.randrange(len(self.live)))
            if order and pick.random() < 0.5:  # frees only part of the block
                pfn, order = pfn + pick.randrange(1 << order), 0
        elif name == 'mm_page_alloc_zone_locked' and pick.random() < 0.05:
            pfn = -1
        return self.record(name, tid, flags, pfn=pfn, order=order, migratetype=kind, gfp_flags=pick.choice((0xcc0, 0x400dc0)),
                           percpu_refill=pick.randrange(2), alloc_order=order, fallback_order=pick.randrange(11),
                           alloc_migratetype=kind, fallback_migratetype=pick.randrange(5),
                           change_ownership=pick.randrange(2))

    def write(self, count):
        time, streams = 10**9, {0: [], 1: []}
        for _ in range(count):
            time += self.random.randrange(1, 5000)
            flags = self.random.choice([0] * 12 + [SOFTIRQ] * 3 + [HARDIRQ, HARDIRQ | SOFTIRQ])
            # Few tasks on both CPUs: the sequence of each task is interrupted by others and continues on another CPU.
            streams[self.random.randrange(2)].append((time, self.event(self.random.choice(self.tasks), flags)))
        buffer = self.trace.buffers[0]
        self.trace.buffers = [buffer._replace(
            pages={cpu: tracedat.pages_of(self.trace, records) for cpu, records in streams.items()})]
        return tracedat.to_v7(self.trace)[0]


class Generated(Case):
    def path(self, kernel, seed):
        return self.written(Generator(kernel, seed).write(6000))

    def test_every_kernel(self):
        for seed, kernel in enumerate(('amd64', 'amd64-5.10', 'arm64', 'i386', 's390x')):
            with self.subTest(kernel):
                path = self.path(kernel, seed)
                want = self.check(path, kernel)
                self.assertEqual(6000, want.events)
                for what in ('failed', 'severe', 'moderate', 'ownership_changed', 'drained', 'refilled'):
                    self.assertGreater(sum(getattr(task, what).events for task in want.tasks.values()), 0, what)
                drained = sum(task.drained.events for task in want.tasks.values())
                self.assertLess(sum(task.pcpu_drains for task in want.tasks.values()), drained)
                if kernel != 'arm64':  # trace-cmd does not understand the print format of arm64
                    names = pages_oracle.gfp_names(path)
                    for row in pages(path)['failures']:
                        self.assertEqual(names[row['gfp_flags']], row['gfp_names'])
                self.assertTrue({'[softirq]', '[hardirq]', '<idle>-0'} <= set(want.tasks))

    def filtered(self, options_of, selects=lambda event: True, window_of=lambda events: (0, 1 << 64)):
        for kernel in ('amd64', 's390x', 'i386'):
            with self.subTest(kernel):
                path = self.path(kernel, 77)
                events = pages_oracle.page_events(path)
                want = pages_oracle.Pages(events, PAGE, PAGEBLOCK_ORDER[kernel], selects, window_of(events))
                self.assertGreater(want.events, 0)
                self.assertLess(want.events, len(events))
                self.assert_same(want, pages(path, *options_of(events)))

    def test_cpu(self):
        self.filtered(lambda events: ('--cpu', '1'), lambda event: event.cpu == 1)

    def test_pid(self):
        self.filtered(lambda events: ('--pid', '0,3999999'),
                      lambda event: event.tid in (0, 3999999) and not event.context)

    def test_comm(self):
        self.filtered(lambda events: ('--comm', 'trace-c*', '--comm', '[hardirq]'),
                      lambda event: event.context == '[hardirq]' or not event.context and event.comm.startswith('trace-c'))

    def test_time(self):
        def window(events):
            return events[2000].time, events[4000].time
        self.filtered(lambda events: ('--time', ','.join(f'{t // 10**9}.{t % 10**9:09}' for t in window(events))),
                      window_of=window)


if __name__ == '__main__':
    unittest.main()
