#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests `investigate` in a virtual machine whose module brd leaks RAM disks. It must name the module's function and the
shell that creates the disks. Before the leak starts, it must report nothing.
  investigate_test.py KERNEL"""
import json
import os
import sys
import tempfile
import unittest

from machine import run_script

KERNEL = sys.argv.pop()


class Investigate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        run_script('investigate.sh', cls.out, '--kernel', KERNEL, '--module', 'brd', '--timeout', '600')

    def result(self, name):
        with open(os.path.join(self.out, f'{name}.json'), encoding='utf-8') as file:
            text = file.read()
        with open(os.path.join(self.out, f'{name}.err'), encoding='utf-8') as file:
            self.assertTrue(text, file.read())
        return json.loads(text)

    def test_module_is_named(self):
        found = self.result('leak')
        self.assertTrue(found['found'], found['findings'])
        first = found['findings'][0]
        self.assertTrue(first['function'].startswith('brd_'), first['function'])
        self.assertTrue(any('[brd]' in frame for frame in first['call_sites'][0]['stack']), first['call_sites'][0])
        self.assertEqual('sh', first['processes'][0]['task'])

    def test_nothing_is_found_before(self):
        found = self.result('none')
        self.assertEqual('no_growth', found['verdict'], found['findings'] or found['states'])


if __name__ == '__main__':
    unittest.main()
