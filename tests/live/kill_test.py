#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that the file of a killed recorder is readable up to shortly before the kill."""
import os
import signal
import subprocess
import time
import unittest

from kmt_events import File, count_of
from recording import PROGRAM, LiveTest, instances_of, wait_until

MOST_LOST = 2.0  # maximum seconds before the kill whose events are lost; a block is written every second


class Kill(LiveTest):
    def kill(self, process):
        """Kills the process. Returns the time in seconds of CLOCK_MONOTONIC."""
        when = time.clock_gettime(time.CLOCK_MONOTONIC)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertTrue(wait_until(lambda: not instances_of(process.pid)), 'instance left')
        return when

    def begun(self):
        return os.path.exists(self.trace) and os.path.getsize(self.trace) >= 16

    def wait_for_first_block(self):
        self.assertTrue(wait_until(self.begun, 30), 'no block was written')

    def assert_readable(self, file):
        """kmemtrace must read the same number of events and report that the end is missing."""
        for fact in ('kallsyms', 'uname', 'clock', 'saved_cmdlines'):
            self.assertTrue(file.facts[fact], fact)
        self.assertGreater(len(file.formats), 5)
        checked = self.check(self.trace)
        self.assertEqual(checked['verdict'], 'unsound')
        self.assertEqual(checked['trace']['events'], count_of(file))

    def test_under_load(self):
        loops = self.load()
        for delay in (0.2, 1.1, 2.1):
            with self.subTest(delay=delay):
                process = self.start('--clock', 'mono', '-e', 'kmem:kmalloc,kmem:kfree')
                if delay > MOST_LOST:
                    self.wait_for_first_block()
                time.sleep(delay)
                killed_at = self.kill(process)
                file = File(self.trace, cut_off=True, heads_only=True) if self.begun() else None
                # The recorder creates the file with the first block.
                self.assertTrue(delay < MOST_LOST or file)
                if file and count_of(file):
                    self.assert_readable(file)
                if delay > MOST_LOST:
                    for stream in file.streams.values():
                        self.assertTrue(stream.blocks, f'nothing of cpu {stream.cpu}')
                        self.assertGreater(file.to_ns(stream.blocks[-1].first_ticks) / 1e9, killed_at - 2 * MOST_LOST)
                if os.path.exists(self.trace):
                    os.remove(self.trace)
        self.end_all(loops)

    def test_nearly_idle(self):
        loop, *_ = self.load(pause=0.05)
        process = self.start('--clock', 'mono', '-p', str(loop.pid))
        self.wait_for_first_block()
        time.sleep(2)
        killed_at = self.kill(process)
        file = File(self.trace, cut_off=True)
        self.assert_readable(file)
        last = max(file.to_ns(stream.blocks[-1].records[-1].ticks) for stream in file.streams.values() if stream.blocks)
        self.assertGreater(last / 1e9, killed_at - MOST_LOST)

    def test_functions_of_programs_started_meanwhile(self):
        process = self.start('--clock', 'mono', '--stacks=user')
        shell = subprocess.Popen(['sh', '-c', 'while :; do :|:; sleep 0.02; done'])
        self.addCleanup(self.end, shell)
        self.wait_for_first_block()
        time.sleep(3)
        self.kill(process)
        named = subprocess.run([PROGRAM, 'report', self.trace, '--by', 'dso,user-symbol', '--pid', str(shell.pid)],
                               stdout=subprocess.PIPE, check=False, encoding='utf-8').stdout
        self.assertRegex(named, r'libc\.so\.6 +pipe')

    def test_a_series_before_its_first_snapshot(self):
        folder = os.path.dirname(self.trace)
        before = set(os.listdir(folder))
        for _ in range(10):
            process = subprocess.Popen([PROGRAM, 'snapshot', '--every', '100ms', '-o', self.trace],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.assertTrue(wait_until(lambda: set(os.listdir(folder)) - before or process.poll() is not None))
            self.assertIsNone(process.poll())
            self.kill(process)
            self.assertTrue(wait_until(lambda: not any('unfinished' in name for name in os.listdir(folder))))
            if os.path.exists(self.trace):
                os.remove(self.trace)

    def test_before_the_first_block(self):
        precious = b'\x89KMT\r\n\x1a\nprecious'
        with open(self.trace, 'wb') as file:
            file.write(precious)
        sleeper = subprocess.Popen(['sleep', '60'])
        self.addCleanup(self.end, sleeper)
        process = self.start('-p', str(sleeper.pid))
        self.kill(process)
        with open(self.trace, 'rb') as file:
            self.assertEqual(file.read(), precious)


if __name__ == '__main__':
    unittest.main()
