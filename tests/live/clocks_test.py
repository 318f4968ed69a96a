#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records a workload on every trace clock simultaneously. Checks the order within a CPU, that interrupts are between
the events of the interrupted task, and that the clocks agree on the duration."""
import signal
import socket
import subprocess
import time
import unittest

from kmt_events import File, events_of
from recording import LiveTest, in_interrupt, read_file

CLOCKS = ('local', 'global', 'mono', 'boot', 'x86-tsc')
EVENTS = 'kmem:kmalloc,kmem:kfree,kmem:kmem_cache_alloc,kmem:kmem_cache_free'
# Sends datagrams to a closed port and to an open one. A soft interrupt on top of the sender creates the answer for the
# closed port, and receives the datagram at the open port. The workload has two batches with a pause between them.
WORKLOAD = '''import socket, sys, time
sys.stdin.readline()
port = int(sys.argv[1])
for _ in 1, 2:
    for closed in range(1500):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for to in 1, port:
                sender.sendto(b'x' * 700, ('127.0.0.1', to))
    time.sleep(0.4)
'''


class Clocks(LiveTest):
    def test_all_clocks_simultaneously(self):
        offered = read_file('/sys/kernel/tracing/trace_clock').replace('[', '').replace(']', '').split()
        clocks = [clock for clock in CLOCKS if clock in offered]
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(receiver.close)
        receiver.bind(('127.0.0.1', 0))
        work = subprocess.Popen(['python3', '-c', WORKLOAD, str(receiver.getsockname()[1])], stdin=subprocess.PIPE)
        self.addCleanup(self.end, work)
        paths = {clock: self.path(f'trace.{number:04}.kmt') for number, clock in enumerate(clocks)}
        recorders = [self.start('-o', path, '--clock', clock, '-b', '8M', '-e', EVENTS, '-p', str(work.pid))
                     for clock, path in paths.items()]
        begun = time.monotonic_ns()
        work.communicate(b'go\n')
        took = time.monotonic_ns() - begun
        for recorder in recorders:
            recorder.send_signal(signal.SIGINT)
        for recorder in recorders:
            self.assertIn('othing was lost', self.finish(recorder))
        spans = {}
        for clock, path in paths.items():
            with self.subTest(clock):
                file = File(path)
                self.assertEqual(file.facts['clock'].decode(), clock)
                events = events_of(file)
                self.assert_ordered(events)
                self.assert_nested(events, equal=0.01 if clock == 'global' else 0.001)
                tasks = sorted(e.time_ns for e in events if not in_interrupt(e))
                spans[clock] = tasks[-1] - tasks[0]
                self.assertTrue(0.75e9 < spans[clock] < took, (spans, took))
        self.assertLess(max(spans.values()) - min(spans.values()), 2e6 + 0.005 * took, spans)

    def assert_ordered(self, events):
        last = {}
        for event in events:
            self.assertGreaterEqual(event.time_ns, last.get(event.cpu, 0))
            last[event.cpu] = event.time_ns

    def assert_nested(self, events, equal):
        """Checks events of interrupts between two events of a task on the same CPU. Their times must be strictly
        between the times of the task's events. At most the share `equal` of them may have the time of an adjacent event.
        The ring buffer assigns that time if an interrupt arrives during its own work. The clock `global` assigns it if
        another CPU's clock is ahead."""
        nested, not_between = 0, 0
        for cpu in {event.cpu for event in events}:
            before, inside = None, []
            for event in (event for event in events if event.cpu == cpu):
                if in_interrupt(event):
                    inside.append(event.time_ns)
                    continue
                if before and inside:
                    times = [before.time_ns, *inside, event.time_ns]
                    not_between += sum(not a < b < c for a, b, c in zip(times, times[1:], times[2:]))
                    nested += len(inside)
                before, inside = event, []
        self.assertGreater(nested, 3000)
        self.assertLessEqual(not_between, equal * nested)


if __name__ == '__main__':
    unittest.main()
