#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that `snapshot --objects` names what fills slab caches. Five kinds of objects are created before the program
starts: two by a module that leaks, and three by system calls.
  objects_test.py KERNEL"""
import json
import os
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support')]
import schemas  # noqa: E402
from machine import HERE, run_script  # noqa: E402
from module_builder import build_module, load_run  # noqa: E402

KERNEL = sys.argv.pop()
COUNT = int(os.environ.get('OBJECTS', '100000'))
MODULE = 'leaked_kinds'
# Cache, module, and names of the kind or its structure.
EXPECTED = {
    'kmalloc-192': (MODULE, {'session_ops', 'leaked_session'}),
    'kmalloc-96': (MODULE, {'do_request', 'leaked_request'}),
    'filp': ('vmlinux', {'eventfd_fops', 'file'}),
    'eventpoll_epi': ('vmlinux', {'epitem'}),
    'posix_timers_cache': ('vmlinux', {'clock_monotonic', 'k_itimer'}),
}


class Objects(unittest.TestCase):
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
        with open(f'{tree}/count', 'w', encoding='ascii') as file:
            file.write(f'{COUNT}\n')
        run_script('objects.sh', cls.out, '--kernel', KERNEL, '--memory', '2048', '--timeout', '600',
                   '--file', f'{module}:/{MODULE}.ko', '--file', f'{tree}/count:/count',
                   '--file', os.environ['OBJECT_KINDS'] + ':/bin/object_kinds')
        cls.report, cls.limited, without_kcore = (cls.read(name) for name in ('objects', 'limited', 'without_kcore'))
        cls.caches, cls.caches_without_kcore = (
            {name: cache for cache in report['caches'] for name in (cache['cache'], *cache['aliases'])}
            for report in (cls.report, without_kcore))

    @classmethod
    def read(cls, name):
        with open(os.path.join(cls.out, f'{name}.json'), encoding='utf-8') as file:
            return json.load(file)

    def text(self, name):
        with open(os.path.join(self.out, name), encoding='utf-8') as file:
            return file.read()

    @staticmethod
    def kinds_in(cache, name):
        """Returns the kinds that are what the test created."""
        _, names = EXPECTED[name]
        return [kind for kind in cache['kinds'] if names & {kind['kind'], kind['structure']}]

    def kinds_of(self, name):
        return self.kinds_in(self.caches[name], name)

    def test_kinds_are_named(self):
        self.check_kinds(self.caches)

    def test_kinds_are_named_without_kcore(self):
        self.check_kinds(self.caches_without_kcore)
        for name, (module, _) in EXPECTED.items():
            if module != 'vmlinux':
                kinds = self.kinds_in(self.caches_without_kcore[name], name)
                self.assertEqual({module}, {kind['module'] for kind in kinds if kind['objects'] > 0.01 * COUNT})

    def check_kinds(self, caches):
        right = 0
        for name in EXPECTED:
            kinds = self.kinds_in(caches[name], name)
            objects = sum(kind['objects'] for kind in kinds)
            with self.subTest(name):
                self.assertGreater(objects, 0.8 * COUNT, caches[name]['kinds'][:3])
                self.assertLess(objects, 1.1 * COUNT + 2000)
            right += min(objects, COUNT)
        self.assertGreaterEqual(right, 0.8 * COUNT * len(EXPECTED))

    def test_modules_are_named(self):
        for cache, (module, _) in EXPECTED.items():
            with self.subTest(cache):
                # A few other files are open, for example of virtio_console.
                self.assertEqual({module}, {kind['module'] for kind in self.kinds_of(cache)
                                            if kind['objects'] > 0.01 * COUNT})

    def test_structures_of_the_kernel_are_named(self):
        for cache, structure in (('filp', 'file'), ('eventpoll_epi', 'epitem'), ('posix_timers_cache', 'k_itimer')):
            with self.subTest(cache):
                certain = sum(kind['objects'] for kind in self.caches[cache]['kinds']
                              if kind['structure'] == structure and kind['structure_confidence'] != 'low')
                self.assertGreater(certain, 0.8 * COUNT, self.caches[cache]['kinds'][:3])

    def test_free_objects_are_left_out(self):
        lines = [line.split() for line in self.text('slabinfo').splitlines()[2:]]
        active = {line[0]: (int(line[1]), int(line[2])) for line in lines}
        for name in EXPECTED:
            cache = self.caches[name]
            with self.subTest(name):
                _, slots = active[cache['cache']]
                self.assertLessEqual(cache['objects'], slots + 1000)  # the program allocates meanwhile
                self.assertLessEqual(cache['slabs_changed'], 0.1 * cache['slabs_read'])

    def test_json_matches_its_schema(self):
        for name in ('objects.json', 'limited.json', 'without_kcore.json'):
            with self.subTest(name):
                schemas.check(self, self.text(name))

    def test_limits_hold(self):
        self.assertLessEqual(self.limited['bytes_read'], 1 << 20)
        self.assertLessEqual(self.report['bytes_read'], self.report['most_bytes'])
        for cache in self.limited['caches']:
            self.assertLessEqual(cache['sampled'], 1000)

    def test_text_has_commands_and_no_contents(self):
        text = self.text('objects.txt')
        self.assertRegex(text, r'Object\(prog, "struct file \*", 0xff[0-9a-f]{14}\)\[0\]')
        self.assertRegex(text, r'crash +struct epitem ff[0-9a-f]{14}')
        self.assertNotIn('session-', text)

    def test_unknown_caches_are_refused(self):
        self.assertEqual('2', self.text('unknown.status').strip())
        self.assertIn('This kernel has no slab cache "no_such_cache"', self.text('unknown.txt'))


if __name__ == '__main__':
    unittest.main()
