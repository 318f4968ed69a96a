#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that `investigate` names a slab leak that stands still, growing leaks of pages and of vmalloc areas, removed
cgroups, and polluted pageblocks. On a healthy machine, it must name none of them. Also checks that `snapshot --pages`
names the slab cache that pollutes pageblocks, and that `snapshot --from` names the cause of an OOM kill from the
kernel's log.
  cases_test.py KERNEL [CASE...]"""
import json
import os
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support')]
import schemas  # noqa: E402
from machine import HERE, run_script  # noqa: E402
from module_builder import build_module, load_run  # noqa: E402

CASES = ('healthy', 'slab', 'pages', 'vmalloc', 'cgroups', 'polluted', 'slabs', 'oom')
MODULES = {'slab': 'leaked_kinds', 'slabs': 'leaked_kinds', 'pages': 'leaked_pages', 'vmalloc': 'leaked_pages', 'oom': 'leaked_kinds'}
MEMORY = {'cgroups': 2048, 'oom': 512}
KERNEL, CHOSEN = sys.argv[1], sys.argv[2:] or CASES
del sys.argv[1:]


class Cases(unittest.TestCase):
    def run_case(self, case):
        """Returns the result of a case as JSON and as text."""
        if case not in CHOSEN:
            self.skipTest('not chosen')
        out = self.enterContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        tree = self.enterContext(tempfile.TemporaryDirectory(prefix='kmemtrace-headers-'))
        files = [f'{self.write(tree, case)}:/case', os.environ['PLANTED_MEMORY'] + ':/bin/planted_memory']
        if case in MODULES:
            files.append(f'{self.module(MODULES[case], tree)}:/{MODULES[case]}.ko')
        run_script('cases.sh', out, '--kernel', KERNEL, '--memory', str(MEMORY.get(case, 1024)), '--timeout', '900',
                   *(option for file in files for option in ('--file', file)))
        self.files = {}
        for name in os.listdir(out):
            with open(os.path.join(out, name), encoding='utf-8') as file:
                self.files[name] = file.read()
        self.assertTrue(self.files['found.json'], self.files['found.err'])
        schemas.check(self, self.files['found.json'])
        return json.loads(self.files['found.json']), self.files['found.txt']

    @staticmethod
    def write(folder, case):
        path = os.path.join(folder, 'case')
        with open(path, 'w', encoding='ascii') as file:
            file.write(case)
        return path

    @staticmethod
    def module(name, tree):
        try:
            return build_module(KERNEL, f'{HERE}/{name}.c', tree)
        except load_run().Skip as reason:
            if os.environ.get('KMEMTRACE_REQUIRE_VM') == '1':
                raise
            raise unittest.SkipTest(str(reason))

    @staticmethod
    def unhealthy(found):
        return {check['id']: check for check in found['health'] if check['health'] in ('warn', 'bad')}

    def test_nothing_on_a_healthy_machine(self):
        found, text = self.run_case('healthy')
        self.assertEqual('no_growth', found['verdict'], found['findings'] or found['states'])
        self.assertEqual({}, self.unhealthy(found))
        self.assertEqual([], found['large_caches'] + found['dying_cgroups'])
        self.assertNotIn('Large slab cache', text)

    def test_standing_slab_leak(self):
        found, text = self.run_case('slab')
        self.assertEqual(('no_growth', '0'), (found['verdict'], self.files['found.status'].strip()))
        self.assertIn('unreclaimable_slab', self.unhealthy(found))
        caches = {cache['cache']: cache for cache in found['large_caches']}
        cache = caches['kmalloc-192']
        self.assertTrue(cache['objects'], found['unseen'])
        kind = cache['objects']['kinds'][0]
        self.assertEqual(('leaked_kinds', 'session_ops'), (kind['module'], kind['kind']))
        self.assertGreater(kind['share'], 0.9)
        self.assertAlmostEqual(400_000 * 192, kind['bytes'], delta=0.1 * 400_000 * 192)
        for source in (cache['words'], text, self.files['live.txt']):
            self.assertIn('session_ops', source)
            self.assertIn('leaked_kinds', source)
        self.assertRegex(self.files['live.txt'], r'\n +drgn .*0xff[0-9a-f]{14}')
        self.assertLessEqual(found['cost']['cpu_seconds'], found['cost']['most_cpu_seconds'])

    def check_growth(self, found, function):
        self.assertEqual('grows', found['verdict'], (found['words'], found['findings'], found['unseen']))
        self.assertTrue(any(function in frame for finding in found['findings'] for site in finding['call_sites']
                            for frame in site['stack']), found['findings'])

    def test_page_leak(self):
        found, _ = self.run_case('pages')
        self.check_growth(found, 'leak_blocks')
        pages = found['kernel_pages']
        self.assertGreater(pages['after'] - pages['before'], 40 << 20)  # 64 MiB in 40 s
        first = pages['orders'][0]
        self.assertEqual(0, first['order'], 'the module does not ask for compound pages')

    def test_vmalloc_leak(self):
        found, _ = self.run_case('vmalloc')
        self.check_growth(found, 'leak_areas')

    def test_removed_cgroups(self):
        found, text = self.run_case('cgroups')
        self.assertEqual('bad', self.unhealthy(found)['dying_cgroups']['health'], self.files['cgroup.stat'])
        row = found['dying_cgroups'][0]
        self.assertEqual('/jobs', row['below'])
        self.assertGreaterEqual(row['count'], 10_000)
        self.assertGreaterEqual(row['file_bytes'], row['count'] * 4096)
        self.assertRegex(text, r'/jobs +10,500 ')
        self.assertGreater(row['percpu_bytes'], 10 << 20)

    def test_polluted_blocks(self):
        found, text = self.run_case('polluted')
        check = self.unhealthy(found)['polluted_blocks']
        self.assertGreater(check['value'], 0.75)
        self.assertLess(check['value'], 1)
        self.assertIn('pageblocks with both movable and unmovable pages', text)

    def test_pageblocks_polluted_by_a_slab_cache(self):
        """A module allocates objects while nearly all free pages are scattered among movable pages."""
        found, text = self.run_case('slabs')
        before = json.loads(self.files['before.json'])['pages']['pageblocks']
        after = found['pages']['pageblocks']
        caches = after['caches_in_mixed']
        self.assertIn(caches['source'], ('kcore', 'bpf'), caches)

        def pages_of_module(use):
            return sum(row['pages'] for row in use['caches_in_mixed']['rows']
                       if row['cache'] in ('kmalloc-192', 'kmalloc-96'))

        # The frames show how many pages of slabs were added. The kernel puts some into unmovable pageblocks.
        added = after['pages_in_mixed']['slab'] - before['pages_in_mixed']['slab']
        self.assertGreater(added, 5000, (before, after))
        self.assertAlmostEqual(added, pages_of_module(after) - pages_of_module(before), delta=0.05 * added)
        self.assertEqual('kmalloc-192', max(caches['rows'], key=lambda row: row['pages'])['cache'])
        of_slabs = sum(row['pages'] for row in caches['rows']) + caches['unknown_pages']
        self.assertEqual(after['pages_in_mixed']['slab'], of_slabs, 'all mixed blocks were examined')
        self.assertLess(caches['unknown_pages'], 0.01 * of_slabs)
        for source in (text, self.files['stored.txt']):
            self.assertRegex(source, r'\n *kmalloc-192 +[\d,]+ ')
        self.check_blocks_of_kernel(after, self.files['pagetypeinfo'])
        self.assertIn('This agrees with the page frames', text)

    def check_blocks_of_kernel(self, use, pagetypeinfo):
        """Compares the pageblocks with the sums of the table in pagetypeinfo."""
        lines = pagetypeinfo.splitlines()
        start = next(number for number, line in enumerate(lines) if line.startswith('Number of blocks type'))
        types = lines[start].split()[4:]
        rows = [line.split('zone')[1].split()[1:] for line in lines[start + 1:] if line.startswith('Node')]
        rows = [row for row in rows if len(row) == len(types)]
        self.assertEqual(sum(int(number) for row in rows for number in row), use['blocks'] + use['reserved'])
        self.assertEqual(use['pagetypeinfo']['blocks'], use['blocks'] + use['reserved'])
        self.assertEqual(types, [one['type'] for one in use['pagetypeinfo']['types']])
        # The kernel gave few pageblocks to unmovable pages, because nearly all are polluted.
        polluted = use['unmovable'] + use['mixed'] - use['pagetypeinfo']['intended_for_unmovable']
        self.assertGreater(polluted, 0)

    def test_text_of_an_oom_kill(self):
        found, text = self.run_case('oom')
        self.assertEqual('bad', self.unhealthy(found)['unreclaimable_slab']['health'])
        self.assertEqual('dd', found['oom']['victim'])
        leaked = 1_000_000 * 192
        cache = max(found['slab_caches'], key=lambda one: one['held_bytes'])
        self.assertEqual('kmalloc-192', cache['name'])
        self.assertAlmostEqual(leaked, cache['held_bytes'], delta=0.02 * leaked)
        self.assertIn('kmalloc-192', text)


if __name__ == '__main__':
    unittest.main()
