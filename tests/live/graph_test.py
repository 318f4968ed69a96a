#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests `kmemtrace graph FUNCTION` on this machine: it records calls, or reports why it cannot and how to enable
them. tests/vm tests the recorded calls on stock kernels."""
import gzip
import json
import os
import re
import subprocess
import tempfile
import unittest

from recording import INSTANCES, PROGRAM, TRACEFS, LiveTest


def traces_functions():
    try:
        with open(f'{TRACEFS}/available_filter_functions', encoding='utf-8') as file:
            return file.read(1) != ''
    except OSError:
        return False


class Graph(LiveTest):
    def graph(self, *arguments):
        before = self.leftovers()
        done = subprocess.run([PROGRAM, 'graph', *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding='utf-8', timeout=60, check=False)
        self.assertEqual(before, self.leftovers())
        return done

    @staticmethod
    def leftovers():
        return [name for folder in (INSTANCES, tempfile.gettempdir()) for name in sorted(os.listdir(folder))
                if name.startswith('kmemtrace-')]

    @staticmethod
    def configuration():
        try:
            with gzip.open('/proc/config.gz', 'rt') as file:
                return file.read()
        except OSError:
            return ''

    @unittest.skipIf(traces_functions(), 'this kernel traces functions')
    def test_states_why_calls_cannot_be_recorded(self):
        mark = self.path('ran')
        for options in ((), ('--backend', 'bpf'), ('--backend', 'ftrace'), ('--backend', 'kprobe'), ('--json',)):
            with self.subTest(options):
                done = self.graph('vfs_read', *options, '--', 'touch', mark)
                self.assertEqual(3, done.returncode, done.stderr)
                self.assertEqual('', done.stdout)
                self.assertRegex(done.stderr, 'Calls of functions cannot be recorded here|does not work here')
                self.assertRegex(done.stderr, 'CONFIG_|According to its configuration, the kernel supports it')
                for option in re.findall(r'CONFIG_\w+', done.stderr):
                    self.assertNotIn(f'{option}=', self.configuration(), 'it is not missing')
                self.assertFalse(os.path.exists(mark), 'the command ran')

    @unittest.skipUnless(traces_functions(), 'this kernel traces no functions')
    def test_records_calls_or_states_why_not(self):
        done = self.graph('vfs_read', '--ret', '--json', '--limit', '0', '--',
                          'dd', 'if=/dev/zero', 'of=/dev/null', 'bs=4321', 'count=3')
        if done.returncode == 3:
            self.assertIn('CONFIG_', done.stderr)
            return
        self.assertEqual(0, done.returncode, done.stderr)
        reads = [call for call in json.loads(done.stdout)['calls'] if call['return_value'] == hex(4321)]
        self.assertEqual(3, len(reads))


if __name__ == '__main__':
    unittest.main()
