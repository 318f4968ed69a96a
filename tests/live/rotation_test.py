#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that each rotated file is complete, and that all files together have every event."""
import collections
import json
import os
import re
import signal
import unittest

from kmt_events import EVENTS, File, events_of
from recording import PIPE_LOOP, LiveTest, wait_until

COUNTED = ('kmalloc', 'kfree')


class Rotation(LiveTest):
    def files(self):
        return sorted(name for name in os.listdir(self.directory) if name.startswith('trace.'))

    def assert_each_complete(self, names):
        for name in names:
            file = File(self.path(name), heads_only=True)
            for fact in ('kallsyms', 'uname', 'saved_cmdlines'):
                self.assertTrue(file.facts[fact], (name, fact))
            self.assertGreater(len(file.streams), 0)
            checked = self.check(self.path(name))
            self.assertEqual(checked['verdict'], 'sound', checked['findings'])

    def assert_all_there(self, counted):
        """Checks that the files together have the counted events of the loops, and that no event is older than those
        of the previous file."""
        names = self.files()
        self.assertGreater(len(names), 2)
        self.assertEqual(names, [f'trace.{number:04}.kmt' for number in range(1, len(names) + 1)])
        self.assert_each_complete(names)
        seen, last = collections.Counter(), collections.Counter()
        windows = {loop['pid']: (loop['first'], loop['last']) for loop in counted}
        for name in names:
            latest = collections.Counter()
            for event in events_of(File(self.path(name))):
                self.assertGreaterEqual(event.time_ns, last[event.cpu], name)
                latest[event.cpu] = max(latest[event.cpu], event.time_ns)
                first, end = windows.get(event.pid, (0, 0))
                if first <= event.time_ns <= end:
                    seen[event.pid, event.name] += 1
            last |= latest
        for loop in counted:
            for name in COUNTED:
                self.assertEqual(seen[loop['pid'], name], loop[name], name)

    def rotate(self, amount, *command):
        process = self.launch('--rotate', amount, '--clock', 'mono', '-e', 'kmem:kmalloc,kmem:kfree', '-F', '--',
                              *command)
        output, messages = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, messages)
        self.assertIn('othing was lost', messages)
        reported = int(re.search(r'(\d+) files up to', messages)[1])
        self.assertEqual(reported, len(self.files()))
        return [json.loads(line) for line in output.splitlines() if line.startswith('{')]

    def test_by_size(self):
        self.assert_all_there(self.rotate('20k', 'sh', '-c', '"$0" 24000; sleep 1.5; "$0" 24000; sleep 1.5; "$0" 6000',
                                          PIPE_LOOP))

    def test_by_time(self):
        self.assert_all_there(self.rotate('500ms', 'sh', '-c', 'for i in 1 2 3 4 5 6 7; do "$0" 300; sleep 0.2; done',
                                          PIPE_LOOP))

    def test_keeps_the_latest(self):
        loops = self.load()
        process = self.start('--rotate', '300k', '--keep', '3')
        self.assertTrue(wait_until(lambda: any(name >= 'trace.0006.kmt' for name in self.files()), 60), self.files())
        process.send_signal(signal.SIGINT)
        messages = self.finish(process)
        self.end_all(loops)
        count, removed = (int(n) for n in re.search(r'(\d+) files up to .*, (\d+) old files removed', messages).groups())
        self.assertGreater(count, 3)
        self.assertEqual(removed, count - 3)
        names = self.files()
        self.assertEqual(names, [f'trace.{number:04}.kmt' for number in range(count - 2, count + 1)])
        self.assert_each_complete(names)
        last = collections.Counter()
        for name in names:
            for entry in File(self.path(name), heads_only=True).index:
                if entry.type == EVENTS:
                    self.assertGreaterEqual(entry.first, last[entry.stream], name)
                    last[entry.stream] = entry.last


if __name__ == '__main__':
    unittest.main()
