#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/vm/run itself: what a script prints, leaves and ends with comes out, and a kernel that panics is told from that."""
import os
import subprocess
import tempfile
import unittest

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'run')
SKIPPED, VM_FAILED = 77, 125


class Run(unittest.TestCase):
    def boot(self, script, *options):
        done = subprocess.run([RUN, *options, '/dev/stdin'], input=script, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding='utf-8', errors='replace', check=False)
        if done.returncode == SKIPPED and os.environ.get('KMEMTRACE_REQUIRE_VM') != '1':
            self.skipTest(done.stderr)
        return done

    def test_files_output_and_exit_code(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.boot('grep -c ^processor /proc/cpuinfo; cat /run_test.py; cat /proc/cmdline >cmdline; exit 3',
                             '--cpus', '3', '--append', 'a=b', '--out', folder, '--file', __file__)
            self.assertEqual(done.returncode, 3, done.stderr)
            with open(__file__, encoding='utf-8') as file:
                self.assertEqual(done.stdout, '3\n' + file.read())
            self.assertEqual(os.listdir(folder), ['cmdline'])
            with open(f'{folder}/cmdline', encoding='ascii') as file:
                self.assertIn(' a=b', file.read())

    def test_panic(self):
        done = self.boot('echo begun; echo c >/proc/sysrq-trigger')
        self.assertEqual(done.returncode, VM_FAILED, done.stderr)
        self.assertEqual(done.stdout, 'begun\n')
        self.assertIn('Kernel panic - not syncing: sysrq triggered crash', done.stderr)


if __name__ == '__main__':
    unittest.main()
