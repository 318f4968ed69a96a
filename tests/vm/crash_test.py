#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that the events before a crash of the kernel are collected after the reboot, and that `leaks` names the memory
that a program did not free. The addresses of the kernel differ between the two boots.
With `backup`, the kernel copies the events into a backup instance at boot. Then they can be collected after the buffer
was used again.
  crash_test.py KERNEL [backup]"""
import json
import os
import re
import sys
import tempfile
import unittest

from machine import HERE, boot

KERNEL = sys.argv[1]
BACKUP = sys.argv[2:] == ['backup']
del sys.argv[1:]
PARAMETERS = 'reserve_mem=16M:4096:flight trace_instance=flight@flight' + (
    ' trace_instance=flight_backup=flight' if BACKUP else '')
PLANT = 'do_eventfd'  # allocates the context of an eventfd


class Crash(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        out = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        done = boot('--out', out, '--kernel', KERNEL, '--timeout', '900', '--reboots', '--append', PARAMETERS, '--file',
                    os.environ['PLANTED_MEMORY'] + ':/bin/planted_memory', f'{HERE}/crash.sh')
        cls.printed = done.stdout
        if done.returncode != 0:
            raise AssertionError(f'exit code {done.returncode}\n{done.stdout}{done.stderr}')
        cls.files = {}
        for name in os.listdir(out):
            if name.endswith('.kmt'):
                continue
            with open(os.path.join(out, name), encoding='utf-8') as file:
                cls.files[name] = file.read()

    def json(self, name):
        self.assertTrue(self.files[name], self.printed)
        return json.loads(self.files[name])

    def rows(self, name):
        return [row for allocator in self.json(name)['groups'].values() for row in allocator['rows']]

    def allocations(self, name):
        """Returns the allocations of the plant."""
        return sum(row['allocations'] for row in self.rows(name) if PLANT in json.dumps(row))

    def test_kernel_moved(self):
        boots = re.findall(r'^boot (\S+) text (\S+)', self.printed, re.M)
        self.assertGreaterEqual(len(boots), 2)
        self.assertNotEqual(boots[-2][0], boots[-1][0])
        self.assertNotEqual(boots[-2][1], boots[-1][1], 'the test needs different addresses')

    def test_all_of_the_last_seconds(self):
        planted = [int(number) for number in re.findall(r'^planted (\d+)', self.printed, re.M)]
        crash = float(re.findall(r'^crash at (\S+)', self.printed, re.M)[-1])
        self.assertGreaterEqual(self.allocations('report.json'), planted[-1])
        self.assertLessEqual(self.allocations('report.json'), planted[-1] + 200)
        [file] = self.json('check.json')['files']
        self.assertTrue(file['complete'], file)
        self.assertEqual('sound', file['verdict'], file)
        trace = self.json('report.json')['trace']
        self.assertEqual('mono' if KERNEL == '6.12' else 'local', trace['clock'])
        self.assertEqual(0, trace['lost_events'])
        # the kernel's own count of the events that survived; Linux 6.12 does not count those of the first page of a CPU
        counted = sum(int(number) for number in re.findall(r'^entries: (\d+)', self.files['stats'], re.M))
        self.assertGreaterEqual(trace['events'], counted)
        self.assertLessEqual(trace['events'], counted + (300 if KERNEL == '6.12' else 10))
        self.assertGreater(trace['duration_ns'], 10e9)
        self.assertAlmostEqual(crash, (trace['first_ns'] + trace['duration_ns']) / 1e9, delta=2)

    def test_leaks_names_the_plant(self):
        self.assertIn('planted_memory', self.files['leaks.txt'])
        plants = [row for row in self.rows('leaks.json') if PLANT in json.dumps(row)]
        self.assertTrue(plants, self.files['leaks.txt'])
        for plant in plants:
            self.assertIn('planted_memory', json.dumps(plant))
        planted = [int(number) for number in re.findall(r'^planted (\d+)', self.printed, re.M)]
        self.assertGreaterEqual(sum(plant['live_allocations'] for plant in plants), planted[-1])

    def test_names_of_tasks(self):
        self.assertIn('planted_memory', json.dumps(self.rows('processes.json')))

    def test_uncollected_events_are_kept(self):
        if BACKUP:
            self.assertEqual('0', self.files['refused.status'].strip(), self.files['refused.err'])
            return
        self.assertEqual('2', self.files['refused.status'].strip())
        self.assertIn('record --boot --previous', self.files['refused.err'])

    def test_collected_once(self):
        self.assertEqual('2', self.files['empty.status'].strip())
        self.assertIn('has no events', self.files['empty.err'])

    def test_buffer_is_used_again(self):
        self.assertEqual('0', self.files['again.status'].strip(), self.files['again.err'])
        self.assertEqual(10, self.allocations('again.json'), self.files['again.err'])


if __name__ == '__main__':
    unittest.main(verbosity=2)
