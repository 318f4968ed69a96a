#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records tasks that wait for memory in a virtual machine. The results must agree with the kernel's own counters, and
with times that this test computes itself.
  stalls_test.py KERNEL"""
import collections
import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', 'support')]
from kmemtrace import run  # noqa: E402
from machine import run_script  # noqa: E402
from stalls import KINDS, stalls_of  # noqa: E402

KERNEL = sys.argv.pop()


class Stalls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        # With one CPU, the kernel's pressure is the time in which any task waits.
        run_script('stalls.sh', cls.out, '--kernel', KERNEL, '--memory', '320', '--cpus', '1', '--timeout', '600',
                   '--module', 'brd')

    def path(self, name):
        return os.path.join(self.out, name)

    def stalls(self, name):
        return json.loads(run('pages', '--stalls', '--json', '--limit', '0', self.path(name + '.kmt')).stdout)

    def counters(self, name):
        with open(self.path(name), encoding='ascii') as file:
            return {key: int(value) for key, value in (line.split() for line in file)}

    def rises(self, name):
        """Returns how much each counter of /proc/vmstat rose around a recording."""
        before, after = self.counters(f'{name}.vmstat.before'), self.counters(f'{name}.vmstat.after')
        return {key: after[key] - value for key, value in before.items()}

    def test_times_are_those_between_the_events(self):
        for name in 'global', 'whole', 'cgroup':
            with self.subTest(name):
                stalls = self.stalls(name)
                self.assertEqual((stalls['uncertain_stalls'], stalls['trace']['lost_events']), (0, 0))
                background = {row['task'].rpartition('-')[2] for row in stalls['background']}
                expected = collections.defaultdict(lambda: [0, 0, 0])
                for (pid, kind), sums in stalls_of(self.path(name + '.kmt')).items():
                    if str(pid) not in background:
                        expected[kind] = [a + b for a, b in zip(expected[kind], sums)]
                found = {row['kind']: [row['stalls'], row['total_ns'], row['reclaimed_pages']] for row in stalls['kinds']
                         if row['kind'] in KINDS.values()}
                self.assertEqual(found, dict(expected))
                for table in 'processes', 'cgroups', 'call_sites', 'orders', 'gfp_flags', 'longest':
                    self.assertEqual(sum(row['total_ns'] for row in stalls[table]), stalls['total']['total_ns'], table)

    def test_direct_reclaim_is_counted_as_by_the_kernel(self):
        counts, rises = self.stalls('global')['counts'], self.rises('global')
        allocstall = sum(rise for key, rise in rises.items() if key.startswith('allocstall'))
        self.assertGreater(allocstall, 10)
        self.assertEqual(counts['direct_reclaims'], allocstall)

    def test_compaction_is_counted_as_by_the_kernel(self):
        counts, rises = self.stalls('whole')['counts'], self.rises('whole')
        self.assertGreater(rises['compact_stall'], 0)
        self.assertEqual(counts['compactions'], rises['compact_stall'])
        self.assertEqual(counts['failed_compactions'], rises['compact_fail'])

    def test_scanned_pages_are_those_of_the_kernel(self):
        rises = self.rises('global')
        scans = {row['scanner']: row for row in self.stalls('global')['scans']}
        for scanner, counter in ('direct_reclaim', 'direct'), ('kswapd', 'kswapd'):
            # The kernel also isolates pages for reclaim in other ways, which have no event.
            self.assertAlmostEqual(scans[scanner]['scanned_pages'], rises[f'pgscan_{counter}'],
                                   delta=rises[f'pgscan_{counter}'] // 100)
            self.assertAlmostEqual(scans[scanner]['reclaimed_pages'], rises[f'pgsteal_{counter}'],
                                   delta=rises[f'pgsteal_{counter}'] // 100)

    def test_cgroup_reclaim_agrees_with_the_cgroup(self):
        stalls, counters = self.stalls('cgroup'), self.counters('cgroup.stat')
        [row] = [row for row in stalls['cgroups'] if row['name'] == '/small']
        scans = {row['scanner']: row for row in stalls['scans']}
        self.assertEqual(scans['cgroup_reclaim']['scanned_pages'], counters['pgscan_direct'])
        self.assertEqual(scans['cgroup_reclaim']['reclaimed_pages'], counters['pgsteal_direct'])
        with open(self.path('cgroup.pressure'), encoding='ascii') as file:
            pressure_us = int(file.readline().rpartition('=')[2])
        # The kernel's pressure includes the charge around the reclaim. In an emulated machine, this takes some time.
        around_us = 30 * row['waits']
        self.assertAlmostEqual(row['total_ns'] / 1000, pressure_us, delta=pressure_us / 100 + around_us)

    def test_groups_by_any_key_have_all_waits(self):
        for name, tables in {'whole': {'cgroup': 'cgroups', 'order': 'orders', 'gfp': 'gfp_flags'},
                             'cgroup': {'cgroup': 'cgroups'}}.items():
            stalls = self.stalls(name)
            for keys in *tables, 'process', 'call-site', 'caller', 'stack', 'module', 'memory-node', 'size', 'task,order,gfp':
                with self.subTest(name, keys=keys):
                    report = json.loads(run('report', '--metric', 'stall', '--by', keys, '--json', '--limit', '0',
                                            self.path(name + '.kmt')).stdout)
                    self.assertEqual(report['by'], keys.split(','))
                    self.assertEqual(report['total'], stalls['total'])
                    for amount in 'waits', 'total_ns', 'reclaimed_pages':
                        self.assertEqual(sum(row[amount] for row in report['groups']), stalls['total'][amount], amount)
                    if keys in tables:
                        self.assertEqual([row['total_ns'] for row in report['groups']],
                                         [row['total_ns'] for row in stalls[tables[keys]]])

    def test_timeline_has_the_same_time(self):
        for name in 'global', 'whole', 'cgroup':
            with self.subTest(name):
                waits = json.loads(run('timeline', '--json', self.path(name + '.kmt')).stdout)['waits']
                stalls = self.stalls(name)
                self.assertEqual(waits['total'], stalls['total'])
                self.assertEqual(waits['over_time'], stalls['over_time'])
                self.assertEqual(sum(waits['over_time']['waiting_ns']), stalls['total']['total_ns'])
                self.assertEqual(waits['longest'], stalls['longest'][:5])

    def test_waits_name_their_allocation(self):
        longest = self.stalls('whole')['longest']
        named = [wait for wait in longest if wait['memory'] and wait['memory']['call_site']]
        self.assertGreater(len(named), len(longest) * 0.9)


if __name__ == '__main__':
    unittest.main()
