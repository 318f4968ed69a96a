#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that the flight recorder keeps the latest events in bounded memory and writes them on request."""
import os
import re
import signal
import time
import unittest

from kmt_events import EVENTS, File, count_of
from recording import LiveTest, read_file, wait_until


def monotonic():
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def times_of(file):
    return [file.to_ns(record.ticks) / 1e9 for stream in file.streams.values() for block in stream.blocks
            for record in block.records]


class Flight(LiveTest):
    def test_latest_time(self):
        """A block is kept while its last event is younger than the limit. A block covers at most a second."""
        loop, *_ = self.load(pause=0.05)
        process = self.start('--flight', '1s', '--clock', 'mono', '-p', str(loop.pid))
        begun = monotonic()
        time.sleep(6)
        self.assertFalse(os.path.exists(self.trace))
        ended = monotonic()
        process.send_signal(signal.SIGINT)
        self.finish(process)
        times = times_of(File(self.trace))
        self.assertGreater(len(times), 100)
        self.assertGreater(max(times), ended - 2)
        self.assertGreater(min(times), begun + 0.5)
        self.assertTrue(0.5 < max(times) - min(times) < 5, max(times) - min(times))

    def test_latest_bytes(self):
        loops = self.load()
        process = self.start('--flight', '300K', '--clock', 'mono', '-b', '4M', '-e', 'kmem:k*')
        time.sleep(1)
        memory = self.resident(process)
        first, last = self.ask(process, 1), None
        time.sleep(3)
        self.assertLess(self.resident(process), memory + (8 << 20))
        last = self.ask(process, 2)
        self.assertGreater(last, first + 1)
        process.send_signal(signal.SIGINT)
        messages = self.finish(process)
        self.end_all(loops)
        counts = re.search(r'latest ([\d,]+) of ([\d,]+) events', messages).groups()
        latest, of = (int(count.replace(',', '')) for count in counts)
        self.assertLess(latest, of / 2)
        for name in (self.FILE, 'trace.0001.kmt', 'trace.0002.kmt'):
            file = File(self.path(name), heads_only=True)
            stored = [chunk for chunk in file.chunks if chunk.type == EVENTS]
            size = sum(end.offset - chunk.offset for chunk, end in zip(file.chunks, file.chunks[1:])
                       if chunk.type == EVENTS)
            self.assertGreater(len(stored), 1)
            self.assertLessEqual(size, 300 << 10)
            self.assertEqual(self.check(self.path(name))['verdict'], 'sound')
            if name == self.FILE:
                self.assertEqual(count_of(file), latest)

    def ask(self, process, number):
        """Requests a file during the recording. Returns the time of its last event, which must be less than two
        seconds old."""
        asked = monotonic()
        process.send_signal(signal.SIGUSR2)
        path = self.path(f'trace.{number:04}.kmt')
        self.assertTrue(wait_until(lambda: self.complete(path)), 'no file')
        self.assertIsNone(process.poll())
        file = File(path, heads_only=True)
        last = max(file.to_ns(entry.last) / 1e9 for entry in file.index if entry.type == EVENTS)
        self.assertGreater(last, asked - 2)
        return last

    @staticmethod
    def complete(path):
        if not os.path.exists(path):
            return False
        with open(path, 'rb') as file:
            return file.read().endswith(b'KMTindex')

    @staticmethod
    def resident(process):
        return int(re.search(r'VmRSS:\s+(\d+)', read_file(f'/proc/{process.pid}/status'))[1]) << 10


if __name__ == '__main__':
    unittest.main()
