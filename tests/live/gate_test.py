#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests leaks --max-growth on this machine with growth of 1 MiB: pipes that a process holds when the recording ends.
  gate_test.py [ROUNDS]"""
import os
import subprocess
import sys
import unittest
import xml.etree.ElementTree

from recording import PROGRAM, LiveTest, read_file, second_try

ROUNDS = int(sys.argv.pop()) if sys.argv[-1].isdigit() else 3
# Opens 1100 pipes, and closes them on request. The buffers of each pipe are an object of 1 KiB.
PIPES = """import os, resource, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE, (4000, 4000))
ends = sum((os.pipe() for _ in range(1100)), ())
if sys.argv[1] == 'close':
    for end in ends:
        os.close(end)
with open(sys.argv[2], 'w') as file:
    file.write(str(os.getpid()))
time.sleep(60)
"""


class Gate(LiveTest):
    def check_growth(self, what):
        """Records a process that keeps its pipes or closes them. Returns the finished command and its JUnit report."""
        pid = self.path('pid')
        try:
            self.record('--stacks', '--', 'sh', '-c', '"$@" >/dev/null 2>&1 & sleep 3', 'sh', sys.executable, '-c', PIPES, what, pid)
        finally:
            os.kill(int(read_file(pid)), 9)
        report = self.path('gate.xml')
        done = subprocess.run([PROGRAM, 'leaks', self.trace, '--max-growth', '1M', '--junit', report],
                              stdout=subprocess.PIPE, encoding='utf-8', check=False)
        os.unlink(self.trace)
        return done, xml.etree.ElementTree.parse(report).getroot()

    @second_try
    def test_growth_fails_and_its_absence_passes(self):
        for _ in range(ROUNDS):
            done, report = self.check_growth('keep')
            self.assertEqual(1, done.returncode, done.stdout)
            [failing] = report.findall('.//testcase[failure]')
            self.assertEqual('slab objects', failing.get('name'))
            self.assertIn('alloc_pipe_info', failing.find('failure').text)
            done, report = self.check_growth('close')
            self.assertEqual(0, done.returncode, done.stdout)
            self.assertEqual([], report.findall('.//failure'))


if __name__ == '__main__':
    unittest.main()
