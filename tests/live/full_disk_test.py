#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that a full disk ends a recording and that all events recorded until then are in the file."""
import collections
import os
import signal
import subprocess
import time
import unittest

from kmt_events import File, count_of, lost_in_blocks
from recording import LiveTest, begin_loop, end_loop, events_of, kernel_statistics, lost_in


class FullDisk(LiveTest):
    def mount(self, size):
        subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={size}', 'tmpfs', self.directory], check=True)
        self.addCleanup(subprocess.run, ['umount', self.directory], check=True)

    def fill(self, size, *options):
        """Records under load until the disk is full. Returns the messages of the recorder."""
        self.mount(size)
        loops = self.load()
        messages = self.record('-b', '1M', '--duration', '30s', *options, exit_code=2)
        self.end_all(loops)
        self.assertRegex(messages.lower(), 'no space|disk is full')
        return messages

    def test_file_is_complete(self):
        self.fill('7400k')
        file = File(self.trace)
        statistics = kernel_statistics(self.trace)
        self.assertEqual(count_of(file), sum(cpu['read events'] for cpu in statistics))
        self.assertGreater(count_of(file), 1000)
        trace = self.check(self.trace)['trace']
        self.assertEqual(trace['events'], count_of(file))
        self.assertEqual(trace['lost_events'], lost_in(statistics) + sum(cpu['entries'] for cpu in statistics))
        self.assertLessEqual(lost_in_blocks(file)[0], lost_in(statistics))

    def fill_up(self, left=0):
        with open(self.path('other'), 'wb', buffering=0) as other, self.assertRaises(OSError):
            while True:
                other.write(bytes(1 << 12))
        os.truncate(self.path('other'), os.path.getsize(self.path('other')) - left)

    def test_disk_full_at_the_start_of_the_file(self):
        """The disk has room for the data at the end of the file, but not for the data before the first block."""
        self.mount('16m')
        for left in (0, 100 << 10):
            with self.subTest(left=left):
                loop = begin_loop(2000)
                self.addCleanup(self.end, loop)
                process = self.start('-p', str(loop.pid))
                self.fill_up(left)
                counted = end_loop(loop)
                self.finish(process, exit_code=2)
                seen = collections.Counter(e.name for e in events_of(self.trace))
                self.assertGreaterEqual(seen['kmalloc'], counted['kmalloc'])
                os.remove(self.path('other'))
                os.remove(self.trace)

    def test_rotation(self):
        self.fill('24m', '--rotate', '3M')  # the recorder checks the file size four times a second
        for number in range(1, 3):
            File(self.path(f'trace.{number:04}.kmt'), heads_only=True)

    def test_flight_recorder_continues(self):
        """If a requested file cannot be written, only that file is lost."""
        self.mount('9m')
        process = self.start('--flight', '1M')
        self.fill_up()
        process.send_signal(signal.SIGUSR2)
        time.sleep(1.5)
        self.assertIsNone(process.poll(), 'it ended')
        process.send_signal(signal.SIGINT)
        self.finish(process)
        self.assertGreater(count_of(File(self.trace, heads_only=True)), 100)


if __name__ == '__main__':
    unittest.main()
