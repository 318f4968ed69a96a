#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records kernel paths without a tracepoint by probes, in a virtual machine. Few addresses may be allocated again
without a recorded free.
  probes_test.py KERNEL"""
import csv
import io
import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', 'support')]
from kmemtrace import report, run  # noqa: E402
from machine import run_script  # noqa: E402

KERNEL = sys.argv.pop()
PROBED = ('probes.kmt', 'probes.dat', 'stacks.kmt')


class Probes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        # With several CPUs, the clocks of emulated CPUs disagree, and a free may seem to follow the next allocation.
        run_script('probes.sh', cls.out, '--kernel', KERNEL, '--cpus', '1', '--timeout', '900')

    def text(self, name):
        with open(os.path.join(self.out, name), encoding='utf-8', errors='replace') as file:
            return file.read()

    def findings(self, name):
        """Counts of the findings by kind."""
        done = run('check', '--json', os.path.join(self.out, name))
        [found] = json.loads(done.stdout)['files']
        return {finding['kind']: finding['count'] for finding in found['findings']}

    def reused(self, name):
        """Returns how many allocations got the address of a live object, and the number of all allocations."""
        allocations = report(os.path.join(self.out, name))['slab']['allocations']
        return self.findings(name).get('allocation_on_live_pointer', 0), allocations

    def test_few_addresses_are_reused_without_a_seen_free(self):
        for name in PROBED:
            with self.subTest(name):
                reused, allocations = self.reused(name)
                self.assertLess(reused * 100_000, allocations)
        self.assertGreater(self.reused('probes.kmt')[1], 100_000)

    @unittest.skipIf(KERNEL in ('6.1', '6.12'), 'only sheaves free many of these objects without an event')
    def test_without_probes_many_are(self):
        reused, allocations = self.reused('none.kmt')
        self.assertGreater(reused * 1000, allocations)

    def test_traces_state_what_was_probed(self):
        self.assertIn('unprobed_functions', self.findings('none.kmt'))
        seen = 0
        for name in PROBED:
            with self.subTest(name):
                events = report(os.path.join(self.out, name))['events']
                seen += events.get('free_bulk', 0) + events.get('free_rcu', 0)
                found = self.findings(name)
                self.assertNotIn('unrecorded_objects', found)
                self.assertNotIn('unmatched_stack', found)
        # Linux 6.12 calls these functions much less often than other versions.
        self.assertGreater(seen, 30)

    def test_disabled_probes_are_named(self):
        for name, reason in (('ftrace-off.kmt', 'kernel.ftrace_enabled is 0'), ('kprobes-off.kmt', 'kprobes are disabled')):
            with self.subTest(name):
                checked = run('check', '--json', os.path.join(self.out, name)).stdout
                self.assertIn('kmem_cache_free_bulk()', checked)
                self.assertIn(reason, checked)

    @unittest.skipUnless(KERNEL == '6.1', 'later kernels have other functions')
    def test_functions_of_old_kernels_are_named(self):
        checked = run('check', '--json', os.path.join(self.out, 'stacks.kmt')).stdout
        self.assertRegex(checked, r'kmem_cache_alloc_bulk\(\), __alloc_pages_bulk\(\).*: a probe needs Linux 6\.10')

    @unittest.skipIf(KERNEL == '6.1', 'a probe at a return cannot read the array')
    def test_bulk_allocations_are_recorded(self):
        names = json.dumps(json.loads(run('check', '--json', os.path.join(self.out, 'probes.kmt')).stdout))
        self.assertNotIn('kmem_cache_alloc_bulk', names)
        if KERNEL == '6.12':  # later kernels do not allocate maple nodes in bulk
            events = report(os.path.join(self.out, 'probes.kmt'))['events']
            self.assertGreater(events.get('alloc_bulk', 0), 0)

    @unittest.skipIf(KERNEL == '6.1', 'a probe at a return cannot read the array')
    def test_pages_of_kernel_stacks_are_recorded(self):
        events = report(os.path.join(self.out, 'stacks.kmt'))['events']
        if KERNEL == '6.12':  # Linux 7.2 allocates the pages of a stack one by one
            self.assertGreater(events.get('alloc_pages_bulk', 0), 0)
        export = run('export', '--to', 'csv', '-o', '-', os.path.join(self.out, 'stacks.kmt')).stdout
        freed, again, vfrees = set(), [], 0
        for event in csv.DictReader(io.StringIO(export)):
            if event['event'] not in ('mm_page_alloc', 'mm_page_free', 'alloc_pages_bulk') or not event['address']:
                continue
            first = int(event['address'], 0)
            frames = set(range(first, first + 2 ** int(event['order'])))
            if event['event'] != 'mm_page_free':
                freed -= frames
                continue
            vfrees += 'vfree' in event['stack']
            if frames & freed and 'vfree' in event['stack']:
                again.append(event)
            freed |= frames
        self.assertEqual([], again)
        self.assertGreater(vfrees, 0)

    @unittest.skipIf(KERNEL in ('6.1', '6.12'), 'the kernel does not report the cache of a freed object')
    def test_stat_counts_the_objects_of_each_cache(self):
        counted = json.loads(self.text('stat.json'))
        self.assertEqual([], counted['uncounted_functions'])
        busy = [cache for cache in counted['caches'] if cache['allocations'] > 1000 and cache['slabinfo_objects'] is not None]
        self.assertIn('maple_node', [cache['name'] for cache in busy])
        for cache in busy:
            with self.subTest(cache['name']):
                # active_objs contains free objects in at most 13 sheaves of at most 60 objects, and in the CPU's slab.
                self.assertLess(abs(cache['net_objects'] - cache['slabinfo_objects']), 13 * 60 + 64)
                self.assertLess(abs(cache['net_objects']), cache['allocations'] / 2)

    @unittest.skipIf(KERNEL in ('6.1', '6.12'), 'the kernel does not report the cache of a freed object')
    def test_without_probes_the_uncounted_functions_are_named(self):
        for name in ('stat-none.json', 'profile-none.json'):
            with self.subTest(name):
                counted = json.loads(self.text(name))
                self.assertEqual('--no-probes', counted['uncounted_reason'])
                for function in ('kmem_cache_free_bulk', '__kfree_rcu_sheaf'):
                    self.assertIn(function, counted['uncounted_functions'])
        [maple] = [cache for cache in json.loads(self.text('stat-none.json'))['caches'] if cache['name'] == 'maple_node']
        self.assertGreater(maple['net_objects'], maple['allocations'] / 2)  # most frees are in these functions
        self.assertRegex(self.text('top-none.txt'), r'kmem_cache_free_bulk\(\).* are not counted \(--no-probes\)')

    @unittest.skipIf(KERNEL in ('6.1', '6.12'), 'the kernel has no sheaves')
    def test_sheaves_have_the_sizes_of_this_kernel(self):
        """On one CPU and one node, 3 + 10 sheaves of a cache may be full."""
        capacities = {}
        for line in self.text('capacities').splitlines():
            path, capacity = line.rsplit(':', 1)
            capacities[path.split('/')[4]] = int(capacity)
        bounds = {}
        for line in self.text('slabinfo').splitlines()[2:]:
            name, _, _, _, objects, pages = line.split()[:6]
            bounds[name] = -(-13 * capacities.get(name, 0) // int(objects)) * int(pages) * 4096
        rows = report(os.path.join(self.out, 'series.kmt'))['slab_caches']
        self.assertGreater(len(rows), 0)
        for row in rows:
            with self.subTest(row['name']):
                self.assertEqual(bounds[row['name']], row.get('in_sheaves_bytes', 0))

    @unittest.skipIf(KERNEL in ('6.1', '6.12'), 'the kernel has no iterator over slab caches')
    def test_caches_are_listed_without_slabinfo(self):
        def active(name):
            return {line.split()[0]: int(line.split()[1]) for line in self.text(name).splitlines()[2:]}
        before, after = active('slabinfo-before'), active('slabinfo-after')
        counted = {cache['name']: cache['slabinfo_objects'] for cache in json.loads(self.text('stat-hidden.json'))['caches']}
        self.assertNotIn(None, counted.values())
        inodes = max('shmem_inode_cache', 'inode_cache', key=lambda name: after[name] - before[name])
        for name in ('dentry', inodes):
            with self.subTest(name):
                self.assertGreater(counted[name], 2500)
                self.assertLess(abs(counted[name] - (after[name] - before[name])), 300)

    def test_frees_name_their_call_site(self):
        groups = json.dumps(report(os.path.join(self.out, 'stacks.kmt'), '--by', 'free-site')['groups'])
        for function in ('kvfree_call_rcu', 'kmem_cache_free_bulk'):
            self.assertNotIn(function, groups)

    def test_probes_are_removed(self):
        self.assertEqual('', self.text('left'))
        self.assertGreaterEqual(int(self.text('probes-while-recording')), 2)


if __name__ == '__main__':
    unittest.main()
