#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the samples of the memory state: their number, their text, and their times on the trace clock. The text
must be that of the kernel."""
import contextlib
import json
import re
import signal
import sqlite3
import subprocess
import time
import unittest

from kmt_events import File, events_of, samples_of
from recording import PROGRAM, LiveTest, read_file

NAMES = ('meminfo', 'vmstat', 'buddyinfo', 'slabinfo')


def keys(text):
    """Returns the first word of each line: the name of a counter, without its number and colon."""
    return [re.match(r'[^\s:]+', line)[0] for line in text.splitlines() if line]


class Samples(LiveTest):
    def test_interval_of_samples_is_kept(self):
        self.load(pause=0.02)
        begun = time.time()
        self.record('--sample-interval', '100ms', '--duration', '1s', '-e', 'kmem:kmalloc')
        ended = time.time()
        file = File(self.trace)
        samples = samples_of(file)
        self.assertTrue(3 <= len(samples) <= 13, len(samples))  # a busy machine reads them late
        for sample in samples:
            self.assert_like_proc(sample.texts)
        for sample in samples[1:-1]:  # the first and last samples are complete snapshots
            self.assertEqual(set(sample.texts), {*NAMES, 'recorder'})
        for kind in (0, 1):
            times = [sample[kind] for sample in samples]
            self.assertEqual(times, sorted(times))
        self.assertGreater(samples[0].unix_ns / 1e9, begun)
        self.assertLess(samples[-1].unix_ns / 1e9, ended)
        self.assertGreater(samples[-1].time_ns - samples[0].time_ns, 0.9e9)
        self.assertAlmostEqual(samples[-1].time_ns - samples[0].time_ns, samples[-1].unix_ns - samples[0].unix_ns,
                               delta=50e6)
        times = [event.time_ns for event in events_of(file)]
        self.assertLess(samples[0].time_ns, max(times))
        self.assertAlmostEqual(samples[0].time_ns, min(times), delta=2e9)
        self.assertAlmostEqual(samples[-1].time_ns, max(times), delta=2e9)

    def assert_like_proc(self, texts):
        self.assertLessEqual(set(NAMES), set(texts))
        for name in NAMES[:3]:
            self.assertEqual(keys(texts[name]), keys(read_file(f'/proc/{name}')), name)
        self.assertRegex(texts['slabinfo'], r'^slabinfo - version: 2\.\d')
        self.assertLess(len(set(keys(texts['slabinfo'])) ^ set(keys(read_file('/proc/slabinfo')))), 5)
        for name in NAMES:
            self.assertTrue(texts[name].endswith('\n'), name)

    def test_in_a_database(self):
        """The exported samples must equal those of `timeline --json`."""
        # An idle machine has no events, and therefore no timeline.
        self.record('--sample-interval', '100ms', '-e', 'kmem:kmalloc', '--', 'sh', '-c', 'sleep 0.3; ls /proc >/dev/null')
        reported = json.loads(subprocess.check_output([PROGRAM, 'timeline', self.trace, '--json']))['samples']
        self.assertGreater(len(reported), 10)
        path = self.path('trace.db')
        subprocess.run([PROGRAM, 'export', self.trace, '--to', 'sqlite', '-o', path], check=True)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            got = connection.execute('SELECT source, name, time_ns, value FROM samples').fetchall()
        self.assertEqual(sorted((one['source'], one['name'], *point) for one in reported for point in one['points']), sorted(got))

    def test_start_and_end_are_sampled_by_default(self):
        self.record('--duration', '200ms', '-e', 'kmem:kmalloc')
        samples = samples_of(File(self.trace))
        self.assertEqual(len(samples), 2)
        self.assert_like_proc(samples[0].texts)

    def test_perf_buffers_count_as_memory_of_the_recorder(self):
        """With user stacks, the recorder maps buffers of perf events. /proc/PID/maps of the recorder shows the size of
        these buffers. The text `recorder` must include this size, or the buffers would look like unaccounted memory."""
        def buffers():
            text = samples_of(File(self.trace))[-1].texts['recorder']
            return int(re.search(r'^ring_buffers (\d+)$', text, re.MULTILINE)[1])
        options = ('-b', '256K', '-e', 'kmem:kmalloc', '--stacks')
        self.record(*options, '--duration', '200ms')
        without = buffers()
        recorder = self.start('-b', '256K', '-e', 'kmem:kmalloc', '--stacks=user')
        mapped = sum(int(end, 16) - int(begin, 16) for begin, end in re.findall(
            r'^(\w+)-(\w+) .*anon_inode:\[perf_event\]$', read_file(f'/proc/{recorder.pid}/maps'), re.MULTILINE))
        recorder.send_signal(signal.SIGINT)
        self.finish(recorder)
        self.assertGreater(mapped, 0)
        self.assertEqual(buffers(), without + mapped)

    def test_clock_of_cycles(self):
        if 'x86-tsc' not in read_file('/sys/kernel/tracing/trace_clock'):
            self.skipTest('this kernel has no clock x86-tsc')
        self.record('--sample-interval', '100ms', '--duration', '500ms', '-e', 'kmem:kmalloc', '--clock', 'x86-tsc')
        samples = samples_of(File(self.trace))
        self.assertAlmostEqual(samples[-1].time_ns - samples[0].time_ns, samples[-1].unix_ns - samples[0].unix_ns,
                               delta=50e6)

    def test_wrong_intervals(self):
        for interval in ('1ms', 'often', '0s'):
            self.assertIn('error:', self.record('--sample-interval', interval, exit_code=2))
        self.trace = self.path('trace.dat')
        self.assertIn('.kmt', self.record('--sample-interval', '1s', exit_code=2))


if __name__ == '__main__':
    unittest.main()
