#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Kills `kmemtrace graph` at random times in a virtual machine. Only readable files may remain.
  kills_test.py KERNEL ROUNDS"""
import os
import sys
import tempfile
import unittest

from machine import run_script

KERNEL, ROUNDS = sys.argv[1:]


class Kills(unittest.TestCase):
    def test_only_readable_files_remain(self):
        with tempfile.TemporaryDirectory(prefix='kmemtrace-vm-') as out:
            run_script('kills.sh', out, '--kernel', KERNEL, '--timeout', str(300 + 30 * int(ROUNDS)), '--append',
                       f'rounds={ROUNDS}')

            def text(name):
                with open(os.path.join(out, name), encoding='utf-8', errors='replace') as file:
                    return file.read()
            self.assertEqual('', text('left'))
            self.assertEqual('', text('unreadable'))
            for backend in ('ftrace', 'bpf', 'kprobe'):
                self.assertIn(backend, text('readable'))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
