#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the files that `record --trigger oom` writes when the OOM killer kills a process in a cgroup or in the whole
machine.
  oom_test.py KERNEL"""
import gzip
import json
import os
import re
import sys
import tempfile
import unittest

from machine import run_script

KERNEL = sys.argv[1]
del sys.argv[1:]


class Oom(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        run_script('oom.sh', cls.out, '--kernel', KERNEL, '--timeout', '900')

    def text(self, name):
        with open(os.path.join(self.out, name), encoding='utf-8') as file:
            return file.read()

    def check(self, case):
        errors = self.text(f'{case}.err')
        self.assertEqual('0', self.text(f'{case}.status').strip(), errors)
        self.assertIn('Triggered: the OOM killer killed a process', errors)
        victim = re.search(r'The victim was dd \(pid (\d+)\)', errors)
        self.assertTrue(victim, errors)
        self.assertEqual(int(self.text(f'{case}.pid')), int(victim[1]), errors)
        # the kernel's report as a snapshot
        kill = json.loads(self.text(f'{case}.oom.json'))['oom']
        self.assertEqual(('dd', int(victim[1])), (kill['victim'], kill['victim_pid']))
        # the page
        page = self.text(f'{case}.html')
        self.assertIn(f'Victim: dd (pid {victim[1]})', page)
        processes = page[page.index('ALLOCATIONS BY PROCESS'):page.index('ALLOCATIONS BY CALL SITE')]
        first_row = processes[processes.index('Pages by process'):].splitlines()[2]
        self.assertRegex(first_row, r'\bdd-\d', processes)
        self.assertIn('MEMORY AT THE KILL', page)
        # the profile
        with gzip.open(os.path.join(self.out, f'{case}.pb.gz')) as file:
            self.assertGreater(len(file.read()), 1000)
        # the event of the kill
        self.assertRegex(self.text(f'{case}.stalls.txt'), r'OOM killer\s+[1-9]\d* process')
        # the snapshot at the end of the trace
        self.assertIn('balance', json.loads(self.text(f'{case}.snapshot.json')))
        return kill, page

    def test_recorder_is_protected(self):
        """Checks the processes of both recordings, each with a watcher."""
        scores = self.text('scores').splitlines()
        self.assertEqual(4, len(scores), scores)
        for line in scores:
            self.assertEqual('-1000', line.split()[1], line)

    def test_kills_in_the_recorder_are_recorded(self):
        """The task that needs memory when the OOM killer runs may be the recorder, whose other events are excluded."""
        self.assertEqual('none\n', self.text('filter.mark_victim'))
        self.assertIn('common_pid', self.text('filter.kmalloc'))

    def test_kill_in_a_cgroup(self):
        kill, page = self.check('cgroup')
        self.assertTrue(kill['cgroup'], kill)
        self.assertIn('because a cgroup had reached its limit', page)

    def test_kill_in_the_machine(self):
        kill, _ = self.check('machine')
        self.assertFalse(kill['cgroup'], kill)


if __name__ == '__main__':
    unittest.main(verbosity=2)
