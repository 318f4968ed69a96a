#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests tests/vm/run: it passes on the output, files and status of a script, and reports a kernel panic as a different
failure.
  run_test.py Run|LateScript"""
import os
import tempfile
import unittest

from machine import boot

VM_FAILED = 125


class Run(unittest.TestCase):
    def test_files_output_and_exit_code(self):
        with tempfile.TemporaryDirectory() as folder:
            done = boot('--cpus', '3', '--append', 'a=b', '--out', folder, '--file', __file__, '/dev/stdin',
                        input='grep -c ^processor /proc/cpuinfo; cat /run_test.py; cat /proc/cmdline >cmdline; exit 3')
            self.assertEqual(done.returncode, 3, done.stderr)
            with open(__file__, encoding='utf-8') as file:
                self.assertEqual(done.stdout, '3\n' + file.read())
            self.assertEqual(os.listdir(folder), ['cmdline'])
            with open(f'{folder}/cmdline', encoding='ascii') as file:
                self.assertIn(' a=b', file.read())

    def test_panic(self):
        done = boot('/dev/stdin', input='echo begun; echo c >/proc/sysrq-trigger')
        self.assertEqual(done.returncode, VM_FAILED, done.stderr)
        self.assertEqual(done.stdout, 'begun\n')
        self.assertIn('Kernel panic - not syncing: sysrq triggered crash', done.stderr)


class LateScript(unittest.TestCase):
    def test_files_of_a_stopped_script_are_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            done = boot('--timeout', '60', '--out', folder, '/dev/stdin', input='echo begun | tee left; sleep 1000')
            self.assertEqual(done.returncode, VM_FAILED, done.stderr)
            self.assertRegex(done.stdout, r'\Abegun\n(Terminated\n)?\Z')  # the inner shell may print "Terminated"
            self.assertIn(f'the script was ended since it took too long; what it left is in {folder}', done.stderr)
            with open(f'{folder}/left', encoding='ascii') as file:
                self.assertEqual(file.read(), 'begun\n')


if __name__ == '__main__':
    unittest.main()
