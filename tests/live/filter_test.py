#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks filters in the kernel: the recorder and perf must count the same events with the same filter."""
import os
import signal
import subprocess
import unittest

from recording import PIPE_LOOP, LiveTest, events_of, read_file

EXPRESSION = 'bytes_req > 4096'
# Changes the ring sizes of pipes (40 bytes per page), some above the limit of the filter and some below.
WORKLOAD = '''import fcntl, os, sys
sys.stdin.readline()
for _ in range(300):
    ends = os.pipe()
    for size in 16, 64, 128, 256:
        fcntl.fcntl(ends[0], 1031, size * 4096)
    for end in ends: os.close(end)
print('done', flush=True)
sys.stdin.readline()'''


class Filter(LiveTest):
    def test_count_equals_that_of_perf(self):
        work = subprocess.Popen(['python3', '-c', WORKLOAD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                bufsize=1)
        self.addCleanup(self.end, work)
        perf = self.perf_stat(work.pid, '-e', 'kmem:kmalloc', '--filter', EXPRESSION)
        process = self.start('--filter', f'kmem:kmalloc:{EXPRESSION}', '-e', 'kmem:kmalloc,kmem:kfree')
        work.stdin.write('go\n')
        self.assertEqual(work.stdout.readline(), 'done\n')
        perf.send_signal(signal.SIGINT)
        perf.wait(30)
        process.send_signal(signal.SIGINT)
        self.finish(process)
        events = events_of(self.trace)
        large = [e for e in events if e.name == 'kmalloc']
        self.assertEqual([e for e in large if e.fields['bytes_req'] <= 4096], [])
        counted = next(line for line in read_file(self.path('perf.csv')).splitlines() if 'kmem:kmalloc' in line)
        self.assertGreaterEqual(int(counted.split(',')[0]), 600)
        self.assertEqual(sum(e.pid == work.pid for e in large), int(counted.split(',')[0]))
        self.assertGreater(sum(e.pid == work.pid and e.name == 'kfree' for e in events), 1000)

    def test_several_of_one_event(self):
        """Two filters must select only the rings of pipes, which have 640 bytes. Other objects of pipes are smaller."""
        self.record('--filter', 'kmem:kmalloc:bytes_req > 500', '-e', 'kmem:kmalloc', '--filter',
                    'kmem:kmalloc:bytes_req < 700 || bytes_req == 1', '--', PIPE_LOOP, '100')
        sizes = [e.fields['bytes_req'] for e in events_of(self.trace)]
        self.assertGreaterEqual(len(sizes), 100)
        self.assertTrue(all(500 < size < 700 for size in sizes), sizes)

    def test_wrong_expressions(self):
        for expression in ('kmem:kmalloc:no_such_field > 1', 'kmem:kmalloc:bytes_req >', 'kmem:kmalloc:(bytes_req > 1'):
            messages = self.record('--filter', expression, exit_code=2)
            self.assertIn('kernel refuses the filter', messages)
        self.assertIn('Field not found', self.record('--filter', 'kmem:kmalloc:no_such_field > 1', exit_code=2))
        for text in ('kmem:kmalloc', 'kmem:kmalloc:', 'kmem:no_such:x > 1', 'x > 1', 'sched:sched_switch:prev_pid > 1'):
            self.assertIn('error:', self.record('--filter', text, exit_code=2))
        self.assertFalse(os.path.exists(self.trace))


if __name__ == '__main__':
    unittest.main()
