#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that all lost events are counted, and that no events are lost with the default buffers."""
import signal
import time
import unittest

from kmt_events import File, count_of, lost_in_blocks
from recording import LiveTest, kernel_statistics, lost_in, second_try


class Losses(LiveTest):
    def record_under_load(self, seconds, *options):
        """Records with all CPUs busy. Returns the recorder's messages."""
        loops = self.load()
        process = self.start(*options)
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        messages = self.finish(process)
        self.end_all(loops)
        return messages

    def lose(self, *options):
        """Returns the kernel's count of lost events, the sum in the blocks, and the number of losses without a
        count. Checks that all reports show the kernel's count."""
        reported = self.reported_losses(self.record_under_load(1, '-b', '16k', *options))
        self.assertGreater(reported, 0)
        statistics = kernel_statistics(self.trace)
        self.assertEqual(reported, lost_in(statistics))
        checked = self.check(self.trace)
        self.assertEqual(checked['trace']['lost_events'], reported)
        self.assertEqual(checked['verdict'], 'unsound')
        file = File(self.trace, heads_only=True)
        self.assertEqual(count_of(file), sum(cpu['read events'] for cpu in statistics))
        return reported, *lost_in_blocks(file)

    def test_tiny_buffers(self):
        reported, in_blocks, unknown = self.lose()
        self.assertLessEqual(in_blocks, reported)
        self.assertGreater(in_blocks + unknown, 0)

    def test_sum_of_the_losses_in_blocks(self):
        """The kernel writes the number of lost events to the end of a page if there is room. Events of 28 bytes leave
        enough room."""
        reported, in_blocks, unknown = self.lose('-e', 'kmem:kmalloc')
        if unknown:  # the page also had another record, such as a time extension
            self.assertLess(in_blocks, reported)
        else:
            self.assertEqual(in_blocks, reported)

    @second_try
    def test_default_buffers(self):
        messages = self.record_under_load(5)
        self.assertEqual(self.reported_losses(messages), 0)
        self.assertEqual(lost_in(kernel_statistics(self.trace)), 0)
        file = File(self.trace, heads_only=True)
        self.assertEqual(lost_in_blocks(file), (0, 0))
        self.assertGreater(count_of(file), 100_000)
        self.assertEqual(count_of(file), sum(cpu['read events'] for cpu in kernel_statistics(self.trace)))


if __name__ == '__main__':
    unittest.main()
