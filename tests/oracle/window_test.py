#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares `report --window` with classes computed from trace-cmd's text, for each call site and for pages. Also
compares the live bytes at both ends of the window with `report --time`, which ends there."""
import collections
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import kmem_oracle  # noqa: E402
from kmemtrace import data, report  # noqa: E402

PAGE = 4096  # page size of all fixtures
KERNELS = ('amd64', 'amd64-5.10', 'arm64', 'i386', 's390x')
CLASSES = ('left_live', 'freed_inside', 'freed_older', 'throughout')

# The memory is of `allocator`, allocated at the time `began`. `ended` is None if the memory is live at the end.
Life = collections.namedtuple('Life', 'allocator site bytes began ended')


class Lives(kmem_oracle.Report):
    """Notes when each object and each page frame was allocated and freed."""

    def __init__(self, events):
        self.lives = []
        self.began = {}  # key: live page frame; value: time of the allocation
        super().__init__(events, PAGE)
        for name, allocator in self.allocators.items():
            self.lives += [Life(name, thing.site, thing.bytes, thing.time, None) for thing in allocator.live.values()]
        self.lives += [Life('pages', None, PAGE, began, None) for began in self.began.values()]

    def allocate(self, event, selected):
        name, address, *_ = kmem_oracle.ALLOCATIONS[event.name]
        live = self.allocators[name].live
        pointer = kmem_oracle.number(event.fields[address]) if address else 0
        old = live.get(pointer)
        super().allocate(event, selected)
        if old is not None and live[pointer] is not old and not live[pointer].twice:
            self.lives.append(Life(name, old.site, old.bytes, old.time, event.time))

    def free(self, event, selected):
        name, address = kmem_oracle.FREES[event.name]
        live = self.allocators[name].live
        pointer = kmem_oracle.number(event.fields[address])
        old = live.get(pointer)
        super().free(event, selected)
        if old is not None and pointer not in live:
            self.lives.append(Life(name, old.site, old.bytes, old.time, event.time))

    def allocate_pages(self, event, selected):
        allocations = self.pages['allocations']
        super().allocate_pages(event, selected)
        if self.pages['allocations'] > allocations:
            self.end_frames(event)
            self.began.update(dict.fromkeys(self.frames_of(event), event.time))

    def free_pages(self, event, selected):
        super().free_pages(event, selected)
        self.end_frames(event)

    def end_frames(self, event):
        for frame in self.frames_of(event):
            if frame in self.began:
                self.lives.append(Life('pages', None, PAGE, self.began.pop(frame), event.time))


def class_of(life, begin, end):
    if life.began >= end or (life.ended is not None and life.ended < begin):
        return None
    freed = life.ended is not None and life.ended < end
    if life.began < begin:
        return 'freed_older' if freed else 'throughout'
    return 'freed_inside' if freed else 'left_live'


def seconds(time_ns):
    return f'{time_ns // 10**9}.{time_ns % 10**9:09}'


def live_bytes(table):
    return sum(row['live_bytes'] or 0 for row in table['rows'])


class Windows(unittest.TestCase):
    maxDiff = None

    def test_real_traces(self):
        for kernel in KERNELS:
            with self.subTest(kernel=kernel):
                events = kmem_oracle.parse(kmem_oracle.report_text(data(f'{kernel}/trace.dat.report-R.zst')))
                lives = Lives(events).lives
                times = sorted(event.time for event in events)
                for first, last in ((0.2, 0.6), (0.5, 0.51), (0, 0.3), (0.7, 1)):
                    begin = times[int(first * (len(times) - 1))]
                    end = times[int(last * (len(times) - 1))] + (last == 1)
                    self.check(f'{kernel}/trace.dat', lives, begin, end)

    def check(self, trace, lives, begin, end):
        want = collections.defaultdict(lambda: dict.fromkeys(CLASSES, 0))
        counts = dict.fromkeys(CLASSES, 0)
        for life in lives:
            kind = class_of(life, begin, end)
            if kind:
                want[life.allocator, life.site][kind] += life.bytes
                counts[kind] += life.allocator == 'slab'
        window = f'{seconds(begin)},{seconds(end)}'
        result = report(data(trace), '--window', window)
        self.assertEqual((result['window']['from_ns'], result['window']['to_ns']), (begin, end))
        got = {row['keys']['call-site']['symbol']: self.bytes_of(row['window'])
               for row in result['groups']['slab']['rows'] if any(part['bytes'] for part in row['window'].values())}
        self.assertEqual(got, {site: sums for (name, site), sums in want.items() if name == 'slab'})
        total = result['window']['slab']
        self.assertEqual({kind: total[kind]['allocations'] for kind in CLASSES}, counts)

        if result['pages']['allocations']:
            self.assertEqual(self.bytes_of(result['window']['pages']), dict(want['pages', None]))
        by_process = report(data(trace), '--window', window, '--by', 'process')
        self.assertEqual(by_process['window'], result['window'])
        before, until = (report(data(trace), '--time', f',{seconds(time)}', '--by', 'process')['groups']
                         for time in (begin, end))
        for name, table in by_process['groups'].items():
            parts = self.bytes_of(result['window'][name])
            for kind in CLASSES:
                self.assertEqual(sum(row['window'][kind]['bytes'] for row in table['rows']), parts[kind], (name, kind))
            self.assertEqual(parts['freed_older'] + parts['throughout'],
                             live_bytes(before[name]) if name in before else 0, name)
            self.assertEqual(parts['left_live'] + parts['throughout'], live_bytes(until[name]), name)

    @staticmethod
    def bytes_of(window):
        return {kind: window[kind]['bytes'] for kind in CLASSES}


if __name__ == '__main__':
    unittest.main()
