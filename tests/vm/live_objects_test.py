#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares live objects with an independent source: a stock kernel booted with slub_debug=U records who allocated
each object of some caches. For each call site, the number of objects that are live according to the trace must equal
the increase of alloc_traces from start to end. Objects from before the trace that are freed during the trace are
counted, not guessed.
  live_objects_test.py KERNEL"""
import collections
import json
import os
import sys
import tempfile
import unittest

from machine import run_script

KERNEL = sys.argv.pop()
CACHES = ('kmalloc-512', 'kmalloc-1k', 'mnt_cache')


def call_site(name):
    """Removes the size of the function from a call site: the kernel prints "do_one+0x12/0x40", a report prints
    "do_one+0x12"."""
    return name.split('/')[0]


class LiveObjects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        run_script('live_objects.sh', cls.out, '--kernel', KERNEL, '--append', f'slub_debug=U,{",".join(CACHES)}',
                   '--timeout', '600')
        cls.report, cls.diff, cls.snapshot = (cls.read(name) for name in ('report', 'diff', 'snapshot'))

    @classmethod
    def read(cls, name):
        with open(os.path.join(cls.out, f'{name}.json'), encoding='utf-8') as file:
            return json.load(file)

    def added(self):
        """Returns the live objects by cache and call site, according to the trace."""
        live = collections.Counter()
        for row in self.report['groups']['slab']['rows']:
            cache, site = row['keys']['cache'], call_site(row['keys']['call-site']['symbol'])
            # A kmem_cache_alloc event does not name the cache, but mnt_cache has its own call site.
            if site.startswith('alloc_vfsmnt+') and not (cache or '').startswith('kmalloc'):
                cache = 'mnt_cache'
            if cache in CACHES and row['live_allocations'] > 0:
                live[cache, site] += row['live_allocations']
        return live

    def kept(self):
        """Returns the objects at the start and at the end by cache and call site, according to the kernel."""
        after = collections.Counter()
        for site in self.snapshot['slab_allocations']:
            after[site['of'], call_site(site['site'])] += site['count']
        before = after.copy()
        for change in self.diff['slab_allocations']:
            cache, _, stack = change['name'].partition(': ')
            before[cache, call_site(stack)] += change['a'] - change['b']
        return before, after

    def test_live_objects_equal_those_of_the_kernel(self):
        self.assertEqual(0, self.report['trace']['lost_events'])
        self.assertEqual([], self.diff['not_compared'])
        added, (before, after) = self.added(), self.kept()
        grown = after - before
        self.assertGreaterEqual(len(grown), 8)
        self.assertGreater(sum(grown.values()), 40)
        self.assertEqual(set(CACHES), {cache for cache, _ in grown})
        of_older = 0
        for site in added.keys() | grown.keys():
            gone = added[site] - (after[site] - before[site])  # freed objects from before the trace
            with self.subTest(site):
                self.assertGreaterEqual(gone, 0)
                self.assertLessEqual(gone, before[site])
            of_older += gone
        exact = sum(added[site] == after[site] - before[site] for site in grown)
        self.assertGreaterEqual(exact, len(grown) * 3 / 4)
        older = {row['cache']: row for row in self.report['older_objects']}
        self.assertLessEqual(of_older, older[None]['frees'])

    def test_older_objects_are_compared_with_the_start(self):
        self.assertGreater(self.report['older_objects_lived'], 10000)
        known = [row for row in self.report['older_objects'] if row['lived'] is not None]
        self.assertGreater(len(known), 5)
        self.assertEqual(sum(row['frees'] for row in self.report['older_objects']), sum(
            site['count'] for site in self.report['anomaly_sites']
            if (site['kind'], site['allocator']) == ('allocated_before_trace', 'slab')))

    def test_the_end_is_a_snapshot(self):
        sites = [site for site in self.snapshot['slab_allocations'] if site['of'] in CACHES]
        self.assertGreater(len(sites), 50)
        self.assertEqual([], self.snapshot['unknown_lines'])
        self.assertNotIn('alloc_traces', {missing['source'] for missing in self.snapshot['missing']})
        self.assertIn('page_owner', {missing['source'] for missing in self.snapshot['missing']})


if __name__ == '__main__':
    unittest.main()
