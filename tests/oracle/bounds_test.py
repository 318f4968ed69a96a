#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that reading a file or folder of 1 MiB needs at most 4 s of CPU time and 256 MiB, whatever sizes it
claims."""
import json
import os
import resource
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))

import amplified  # noqa: E402
import amplified_folders  # noqa: E402
from kmemtrace import PROGRAM, SANITIZED  # noqa: E402

# Most files need at most 2 s. On a virtual machine whose cores are shared, the same work needs up to twice as much.
MOST_SECONDS, MOST_MIB = 4, 256
# This file unpacks to slightly more data than a real series of snapshots of an idle machine. All of the data must be
# read.
SLOWER = {'series.kmt': 8}
COMMANDS = (('check', '--json'), ('report', '--json'), ('pages', '--json'), ('timeline', '--json'), ('convert', '--force'))
OF_COPIES = (('snapshot', '--from'), ('snapshot', '--json', '--from'))


class Bounds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        amplified.write(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def cost(self, *arguments):
        """Runs the program. Returns its exit status, its output, its CPU time in seconds and its memory in
        MiB."""
        with tempfile.TemporaryFile() as out:
            # The shell in between keeps the memory of this process out of the result: the peak of a child includes that
            # of its parent before exec.
            process = subprocess.Popen(['sh', '-c', '"$@"; exit $?', 'sh', PROGRAM, *arguments], stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=subprocess.STDOUT,
                                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60)))
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            text = out.read().decode(errors='replace')
        return process.returncode, text, used.ru_utime + used.ru_stime, used.ru_maxrss >> 10

    def expect_bounds(self, path, commands):
        name = os.path.basename(path)
        for command in commands:
            with self.subTest(name, command=command), tempfile.TemporaryDirectory() as folder:
                for turn in range(3):  # other processes make a command slower
                    outputs = [os.path.join(folder, f'{turn}.kmt')] if command[0] == 'convert' else []
                    status, text, seconds, mib = self.cost(*command, path, *outputs)
                    if SANITIZED or seconds < SLOWER.get(name, MOST_SECONDS):
                        break
                self.assertIn(status, (0, 1, 2), text[:300])
                if not SANITIZED:
                    self.assertLess(seconds, SLOWER.get(name, MOST_SECONDS))
                    self.assertLess(mib, MOST_MIB)

    def test_every_file(self):
        for name in sorted(os.listdir(self.folder.name)):
            self.expect_bounds(os.path.join(self.folder.name, name), COMMANDS)

    def test_every_folder(self):
        for cases, commands in ((amplified_folders.TRACES, COMMANDS), (amplified_folders.COPIES, OF_COPIES)):
            for name, write in cases.items():
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, name)
                    os.mkdir(path)
                    write(path)
                    self.assertLess(sum(entry.stat().st_size for entry in os.scandir(path)), amplified.MIB, name)
                    self.expect_bounds(path, commands)

    def test_copies_with_large_claims_are_read(self):
        for name, write in amplified_folders.COPIES.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                write(folder)
                self.assertEqual(0, self.cost('snapshot', '--json', '--from', folder)[0])

    def test_the_number_of_findings_is_limited(self):
        for name in ('findings.dat', 'many_buffers.dat', 'many_buffers_with_pages.dat', 'instances_of_one_table.dat'):
            path = os.path.join(self.folder.name, name)
            _, text, _, _ = self.cost('check', '--json', path)
            found = sum(finding['count'] for finding in json.loads(text)['files'][0]['findings'])
            self.assertLess(found, os.path.getsize(path), name)


if __name__ == '__main__':
    unittest.main()
