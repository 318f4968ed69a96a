#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks how snapshots show pages that a module leaks. Most of them have no owner: the difference of two snapshots shows
their number, orders and flags. Others belong to a page pool, which is named. Also checks the memory of an AF_XDP socket.
  owners_test.py KERNEL"""
import json
import os
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support')]
from kmemtrace import run  # noqa: E402
from machine import HERE, run_script  # noqa: E402
from module_builder import build_module, load_run  # noqa: E402

KERNEL = sys.argv.pop()
MODULE = 'unowned_pages'
PAGE = 4096
SINGLE, BLOCKS, POOLED = 16384, 2048, 4096
ORDER = 3


class Owners(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        tree = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-headers-'))
        try:
            module = build_module(KERNEL, f'{HERE}/{MODULE}.c', tree)
        except load_run().Skip as reason:
            if os.environ.get('KMEMTRACE_REQUIRE_VM') == '1':
                raise
            raise unittest.SkipTest(str(reason))
        with open(f'{tree}/arguments', 'w', encoding='ascii') as file:
            file.write(f'{SINGLE} {BLOCKS} {POOLED}\n')
        run_script('owners.sh', cls.out, '--kernel', KERNEL, '--memory', '1024', '--file', f'{module}:/{MODULE}.ko',
                   '--file', f'{tree}/arguments:/arguments', '--module', 'xsk_diag',
                   '--file', os.environ['PLANTED_MEMORY'] + ':/bin/planted_memory')
        files = [os.path.join(cls.out, f'{name}.kmt') for name in ('before', 'after')]
        cls.after = json.loads(run('snapshot', files[1], '--json', '--limit', '0').stdout)
        cls.diff = json.loads(run('diff', *files, '--json', '--limit', '0').stdout)

    def change(self, table, name):
        return sum(one['b'] - one['a'] for one in self.diff[table] if one.get('id', one.get('name')) == name)

    def assert_within_two_percent(self, expected, found):
        self.assertAlmostEqual(expected, found, delta=0.02 * expected)

    def test_unaccounted_memory_grows_by_all_pages(self):
        pages = SINGLE + (BLOCKS << ORDER) + POOLED
        self.assert_within_two_percent(pages * PAGE, self.change('balance', 'unaccounted'))

    def test_memory_without_owner_grows_by_the_leak(self):
        self.assert_within_two_percent((SINGLE + (BLOCKS << ORDER)) * PAGE, self.change('balance', 'unaccounted.rest'))

    def test_the_page_pool_is_named(self):
        [pool] = [one for one in self.after['owners'] if one['kind'] == 'page_pool']
        self.assertEqual((POOLED * PAGE, 'exact', 'unaccounted'), (pool['bytes'], pool['exactness'], pool['place']))
        self.assertEqual(POOLED * PAGE, self.change('owners', f'page pool: {pool["name"]}'))
        with open(os.path.join(self.out, 'after.txt'), encoding='utf-8') as file:
            self.assertIn('page pool', file.read())

    def test_xdp_socket(self):
        with open(os.path.join(self.out, 'xdp.json'), encoding='utf-8') as file:
            found = {one['place']: one for one in json.load(file)['owners'] if one['kind'] == 'xdp'}
        with open(os.path.join(self.out, 'vmallocinfo'), encoding='utf-8') as file:
            pages = [int(line.partition(' pages=')[2].split()[0]) for line in file if ' xsk' in line]
        self.assertEqual(4, len(pages))
        self.assertEqual((sum(pages) * PAGE, 'exact'), (found['counted_kernel']['bytes'], found['counted_kernel']['exactness']))
        self.assertRegex(found['counted_kernel']['name'], r'^planted_memory \(pid \d+\) on lo$')
        self.assertEqual(16 << 20, found['user']['bytes'])

    def test_the_census_shows_orders_and_flags(self):
        self.assert_within_two_percent((BLOCKS << ORDER) * PAGE, self.change('page_blocks', f'other kernel pages, order {ORDER}'))
        # Free pages on the CPUs' lists have no flags either. Their number changes between the counters and the frames.
        on_lists = self.change('balance', 'free.cpu-lists')
        self.assertAlmostEqual((SINGLE + (BLOCKS << ORDER) + POOLED) * PAGE, self.change('page_flags', 'none') - on_lists,
                               delta=4 << 20)


if __name__ == '__main__':
    unittest.main()
