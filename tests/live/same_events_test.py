#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that simultaneous recorders, one per format, record the same events."""
import collections
import signal
import time
import unittest

from kmt_events import File, events_of, events_of_trace_dat
from recording import LiveTest, begin_loop, end_loop, in_interrupt

COUNTED = ('kmalloc', 'kfree', 'kmem_cache_alloc', 'kmem_cache_free')


class SameEvents(LiveTest):
    def test_trace_dat_and_kmt(self):
        loop = begin_loop(3000)
        self.addCleanup(self.end, loop)
        paths = [self.path('trace.kmt'), self.path('trace.dat')]
        recorders = [self.start('-o', path, '--clock', 'mono', '-p', str(loop.pid)) for path in paths]
        counted = end_loop(loop)
        time.sleep(0.1)  # the exit of the loop causes its last events
        for recorder in recorders:
            recorder.send_signal(signal.SIGINT)
        for messages in self.finish_all(recorders):
            self.assertIn('othing was lost', messages)
        small, large = events_of(File(paths[0])), events_of_trace_dat(paths[1])
        for events in small, large:
            window = collections.Counter(e.name for e in events if counted['first'] <= e.time_ns <= counted['last'])
            self.assertEqual({name: window[name] for name in COUNTED}, {name: counted[name] for name in COUNTED})
        self.assertEqual(self.in_order(small), self.in_order(large))
        self.assertEqual(self.of_interrupts(small), self.of_interrupts(large))

    def test_frees_by_the_recorder_are_not_second_frees(self):
        """The recorder's frees are recorded, but its allocations are not."""
        for name in ('trace.kmt', 'trace.dat'):
            path = self.path(name)
            self.record('-o', path, '--duration', '2s')
            found = {finding['kind']: finding['count'] for finding in self.check(path)['findings']}
            self.assertLess(found.get('double_free_or_untraced_allocation', 0), 200, name)

    @staticmethod
    def in_order(events):
        """Returns the events of tasks in order, without times, because each recorder reads the clock separately."""
        ordered = sorted(events, key=lambda e: e.time_ns)
        return [(e.pid, e.cpu, e.name, e.fields) for e in ordered if not in_interrupt(e)]

    @staticmethod
    def of_interrupts(events):
        """Counts the events of interrupts. Their order is not compared, because an interrupt may run between the probes
        of the two recorders."""
        return collections.Counter((e.pid, e.cpu, e.name, *e.fields.items()) for e in events if in_interrupt(e))


if __name__ == '__main__':
    unittest.main()
