#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks `snapshot --pages` on the running kernel. The counts of page frames agree with an independent count of
/proc/kpageflags, with meminfo, buddyinfo and extfrag. Memory of known size appears in the correct kind and cgroup."""
import array
import collections
import contextlib
import errno
import json
import mmap
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from memory_counters import beside_other_processes, refresh

PROGRAM = os.environ.get('KMEMTRACE', '')
MIB = 1 << 20
PAGE = os.sysconf('SC_PAGE_SIZE')
KERNEL = tuple(int(number) for number in os.uname().release.split('-')[0].split('.')[:2])

# Bits of include/uapi/linux/kernel-page-flags.h.
LRU, SLAB, BUDDY, ANON, SWAPCACHE, PGTABLE, RESERVED = (1 << bit for bit in (5, 7, 10, 12, 13, 26, 32))


def why_not_live():
    if os.geteuid() != 0:
        return 'not root'
    return None if os.path.exists('/proc/kpageflags') else 'no /proc/kpageflags'


def census(*arguments):
    done = subprocess.run([PROGRAM, 'snapshot', '--pages', '--json', '--limit', '0', *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding='utf-8', check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)['pages']


def kinds(result):
    return {one['kind']: one['bytes'] for one in result['kinds']}


def blocks(result, kind):
    return next(one['blocks_by_order'] for one in result['kinds'] if one['kind'] == kind)


def words():
    """Returns the words of /proc/kpageflags and how often each occurs."""
    counter = collections.Counter()
    with open('/proc/kpageflags', 'rb', buffering=0) as file:
        while part := file.read(MIB):
            counter.update(array.array('Q', part))
    return counter


def counted(counter):
    """Returns bytes by kind, only of kinds whose flags are on every page of a block in all kernels."""
    found = collections.Counter()
    for word, count in counter.items():
        kind = ('reserved' if word & RESERVED else 'free' if word & BUDDY else 'slab' if word & SLAB else
                'page_tables' if word & PGTABLE else 'anonymous' if word & ANON and not word & SWAPCACHE else None)
        found[kind] += count * PAGE
    return found


def meminfo():
    with open('/proc/meminfo', encoding='ascii') as file:
        return {line.split(':')[0]: int(line.split()[1]) * 1024 for line in file if line.endswith('kB\n')}


def read_text(path):
    with open(path, encoding='ascii') as file:
        return file.read()


def buddyinfo():
    """Returns the number of free blocks by order."""
    rows = [[int(count) for count in line.split()[4:]] for line in read_text('/proc/buddyinfo').splitlines()]
    return [sum(counts) for counts in zip(*rows)]


class Held:
    """A process in a new cgroup that runs a Python program and then waits."""

    def __init__(self, group, program):
        self.process = subprocess.Popen([sys.executable, '-c', 'input()\n' + program + '\nprint("ready", flush=True)\nimport sys; sys.stdin.read()'],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with open(f'{group}/cgroup.procs', 'w', encoding='ascii') as file:
            file.write(str(self.process.pid))
        self.process.stdin.write('\n')
        self.process.stdin.flush()
        if self.process.stdout.readline() != 'ready\n':
            raise AssertionError('the process ended early')

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def cgroup_root():
    """Returns the mount point of the cgroups that account for memory."""
    found = None
    for line in read_text('/proc/self/mounts').splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == 'cgroup' and 'memory' in options.split(','):
            found = place
        if kind == 'cgroup2' and not found and 'memory' in read_text(f'{place}/cgroup.subtree_control').split():
            found = place
    return found


@unittest.skipIf(why_not_live() and not os.environ.get('KMEMTRACE_REQUIRE_LIVE'), why_not_live())
class Pages(unittest.TestCase):
    TOLERANCE = 32 * MIB  # bytes that other processes may allocate or free during a check

    def assert_between(self, value, before, after, tolerance, what):
        self.assertGreaterEqual(value, min(before, after) - tolerance, what)
        self.assertLessEqual(value, max(before, after) + tolerance, what)

    @beside_other_processes(5)
    def test_agrees_with_a_count_of_kpageflags(self):
        before = counted(words())
        found = kinds(census())
        after = counted(words())
        for kind in ('free', 'slab', 'page_tables', 'anonymous', 'reserved'):
            self.assert_between(found[kind], before[kind], after[kind], self.TOLERANCE, kind)
        self.assert_between(found['reserved'], before['reserved'], after['reserved'], MIB, 'these pages do not change')

    @beside_other_processes(5)
    def test_agrees_with_meminfo(self):
        refresh()
        before = meminfo()
        result = census()
        after = meminfo()
        found = kinds(result)
        self.assertAlmostEqual(before['MemTotal'], result['in_total_bytes'], delta=MIB)
        for kind, name in (('free', 'MemFree'), ('anonymous', 'AnonPages'), ('shmem', 'Shmem'),
                           ('page_tables', 'PageTables'), ('hugetlb', 'Hugetlb')):
            if name in before and (kind != 'page_tables' or KERNEL >= (4, 18)):
                self.assert_between(found[kind], before[name], after[name], self.TOLERANCE, kind)
        # Slab also has kmalloc allocations above two pages, which have no flag.
        large = next((one['bytes'] for one in result['other']['counters'] if 'kmalloc above' in one['label']), 0)
        self.assert_between(found['slab'] + large, before['Slab'], after['Slab'], self.TOLERANCE, 'slab')
        cache = [one['Cached'] + one['Buffers'] - one['Shmem'] for one in (before, after)]
        self.assert_between(found['file'], *cache, self.TOLERANCE, 'file')

    @beside_other_processes(5)
    def test_compares_with_the_counters(self):
        result = census()
        difference = 0
        for row in result['counters']:
            if row['counter_bytes'] is not None:
                difference += row['bytes'] - row['counter_bytes']
                self.assertAlmostEqual(row['bytes'], row['counter_bytes'], delta=self.TOLERANCE, msg=row['kind'])
        self.assertAlmostEqual(0, difference, delta=MIB)  # each page and each counter is in exactly one row

    @beside_other_processes(5)
    def test_orders_of_free_blocks_agree_with_buddyinfo(self):
        before = buddyinfo()
        found = blocks(census(), 'free')
        after = buddyinfo()
        self.assertGreater(len(found), 5)
        for order, count in enumerate(found):
            if order >= 2:  # most allocations take blocks of lower orders, and change their number all the time
                self.assert_between(count, before[order], after[order], 20 + before[order] // 20, f'order {order}')

    @beside_other_processes(5)
    def test_fragmentation_agrees_with_extfrag(self):
        folder = '/sys/kernel/debug/extfrag'
        if not os.path.isdir(folder):
            self.skipTest(f'no {folder}')
        result = census()
        order = result['pageblocks']['order']
        for name, key in (('unusable_index', 'unusable'), ('extfrag_index', 'index')):
            rows = [line.split() for line in read_text(f'{folder}/{name}').splitlines()]
            shown = {(int(row[1].rstrip(',')), row[3]): float(row[4 + order]) for row in rows}
            for zone in result['fragmentation']:
                expected = shown[zone['node'], zone['zone']]
                if key == 'index' and zone[key] is None:
                    self.assertEqual(-1, expected)
                else:
                    self.assertAlmostEqual(expected, zone[key], delta=0.02)

    @contextlib.contextmanager
    def group(self):
        root = cgroup_root()
        if not root or not os.path.exists('/proc/kpagecgroup'):
            self.skipTest('no cgroups account for memory')
        name = f'kmemtrace-pages-{os.getpid()}'
        os.mkdir(f'{root}/{name}')
        try:
            yield f'{root}/{name}', '/' + name
        finally:
            deadline = time.monotonic() + 5
            while True:
                try:
                    os.rmdir(f'{root}/{name}')
                    break
                except OSError as error:
                    if error.errno != errno.EBUSY or time.monotonic() > deadline:
                        raise
                    time.sleep(0.05)

    def pages_of(self, program):
        """Returns the bytes by kind of the cgroup in which the program runs."""
        with self.group() as (folder, path):
            held = Held(folder, program)
            try:
                result = census()
            finally:
                held.close()
        return {kind: pages * PAGE for row in result['cgroups'] if row['path'] == path
                for kind, pages in row['pages'].items()}

    def test_anonymous_memory_of_a_cgroup(self):
        found = self.pages_of('import mmap\nm = mmap.mmap(-1, 64 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n'
                              'for i in range(0, 64 << 20, 4096): m[i] = 1')
        self.assert_between(found['anonymous'], 64 * MIB, 72 * MIB, 4 * MIB, 'with the memory of Python itself')

    def test_shared_memory_of_a_cgroup(self):
        found = self.pages_of('import os\nf = os.memfd_create("kmemtrace")\n'
                              'for _ in range(64): os.write(f, bytes(1 << 20))')
        self.assertAlmostEqual(64 * MIB, found['shmem'], delta=2 * MIB)

    # The pages of pipe buffers are in no counter, so they are unaccounted memory.
    def test_pipe_buffers_of_a_cgroup_are_kernel_pages(self):
        found = self.pages_of('import fcntl, os\npipes = [os.pipe() for _ in range(32)]\n'
                              'for r, w in pipes:\n fcntl.fcntl(w, 1031, 1 << 20)\n'  # F_SETPIPE_SZ
                              ' os.write(w, bytes(1 << 20))')
        self.assertAlmostEqual(32 * MIB, found['other'], delta=2 * MIB)

    @beside_other_processes(5)
    def test_slab_grows_with_dentries(self):
        count = 200_000
        before = kinds(census())['slab']
        with tempfile.TemporaryDirectory() as folder:
            for number in range(count):  # a failed lookup leaves a negative dentry
                os.path.exists(f'{folder}/{number}')
            during = kinds(census())['slab']
        self.assertGreater(during - before, count * 192 * 0.8)
        self.assertLess(during - before, count * 192 * 2)

    @beside_other_processes(5)
    def test_huge_pages_are_blocks_of_their_order(self):
        enabled = '/sys/kernel/mm/transparent_hugepage/enabled'
        if not os.path.exists(enabled) or '[never]' in read_text(enabled):
            self.skipTest('no transparent huge pages')
        size = int(read_text('/sys/kernel/mm/transparent_hugepage/hpage_pmd_size'))
        order = (size // PAGE).bit_length() - 1

        def huge():
            found = blocks(census(), 'anonymous')
            return found[order] if len(found) > order else 0
        before = huge()
        with mmap.mmap(-1, 33 * size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
            memory.madvise(mmap.MADV_HUGEPAGE)
            for at in range(0, 33 * size, PAGE):
                memory[at] = 1
            during = huge()
        self.assertGreaterEqual(during - before, 24)

    @beside_other_processes(5)
    def test_pools_of_huge_pages(self):
        control = '/proc/sys/vm/nr_hugepages'
        if not os.path.exists(control):
            self.skipTest('no hugetlb')
        before = int(read_text(control))

        def resize(count):
            with open(control, 'w', encoding='ascii') as file:
                file.write(str(count))
        try:
            resize(before + 8)
            info = meminfo()
            result = census()
        finally:
            resize(before)
        self.assertEqual(info['Hugetlb'], kinds(result)['hugetlb'])
        order = (info['Hugepagesize'] // PAGE).bit_length() - 1
        self.assertEqual(info['Hugetlb'], sum(count * PAGE << at for at, count in enumerate(blocks(result, 'hugetlb'))))
        self.assertGreaterEqual(blocks(result, 'hugetlb')[order], 1)

    def test_pageblocks_are_consistent(self):
        use = census()['pageblocks']
        self.assertTrue(use['order_is_known'])
        self.assertIn(f'Page block order: {use["order"]}\n', read_text('/proc/pagetypeinfo'))
        self.assertEqual(use['mixed'], sum(use['mixed_by_unmovable_pages']))
        self.assertLessEqual(use['free'] + use['movable'] + use['unmovable'] + use['mixed'] + use['uncertain'],
                             use['blocks'])
        self.assertLessEqual(sum(use['pages_in_mixed'].values()), use['mixed'] << use['order'])

    def test_pageblocks_agree_with_pagetypeinfo(self):
        use = census()['pageblocks']
        lines = iter(read_text('/proc/pagetypeinfo').splitlines())
        listed = {}
        for line in lines:
            if line.startswith('Number of blocks type'):
                types = line.split()[4:]
                for row in lines:
                    if not row.startswith('Node'):
                        break
                    for name, number in zip(types, row.split()[-len(types):]):
                        listed[name] = listed.get(name, 0) + int(number)
        self.assertEqual(sum(listed.values()), use['pagetypeinfo']['blocks'])
        self.assertEqual(set(listed), {one['type'] for one in use['pagetypeinfo']['types']})
        # The kernel also lists blocks without RAM in its memory sections.
        self.assertLessEqual(use['blocks'] + use['reserved'], sum(listed.values()))

    @beside_other_processes(3)
    def test_slab_caches_in_mixed_pageblocks(self):
        use = census()['pageblocks']
        caches = use['caches_in_mixed']
        if caches['source'] is None:
            self.skipTest(caches['failure'] or 'no mixed pageblocks with slabs')
        names = set(os.listdir('/sys/kernel/slab'))
        self.assertLessEqual({row['cache'] for row in caches['rows']} - names, set())
        pages = sum(row['pages'] for row in caches['rows'])
        self.assertLessEqual(caches['unknown_pages'], 0.1 * pages)
        if caches['blocks'] < 1024:
            self.assertEqual(use['pages_in_mixed']['slab'], pages + caches['unknown_pages'])
        for row in caches['rows']:
            self.assertLessEqual(row['alone'], row['blocks'])
            self.assertLessEqual(row['blocks'], min(row['pages'], caches['blocks']))

    def test_is_fast(self):
        """Counting the pages of 64 GiB must take less than 5 s of CPU time. Other processes do not change this time."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        census()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.assertLess(used, max(1, 5 * meminfo()['MemTotal'] / (64 << 30)))

    def test_text(self):
        done = subprocess.run([PROGRAM, 'snapshot', '--pages', '--ascii'], stdout=subprocess.PIPE, check=True,
                              encoding='utf-8')
        section = done.stdout[done.stdout.index('Page frames: '):done.stdout.index('\nSlab caches by')]
        self.assertLess(section.count('\n'), 50, section)
        for part in ('free ', 'page cache of files ', 'MemTotal', 'by counter', 'by flags', 'Pageblocks of '):
            self.assertIn(part, section)

    def refused(self, *command):
        done = subprocess.run([*command, PROGRAM, 'snapshot', '--pages'], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding='utf-8', check=False)
        self.assertEqual((3, ''), (done.returncode, done.stdout), done.stderr)
        return done.stderr

    def test_needs_permission(self):
        text = self.refused('setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups')
        self.assertIn('Not permitted to read the use of page frames', text)
        self.assertIn('hint: Run it as root', text)

    def test_needs_addresses(self):
        # Root without CAP_SYS_ADMIN can read kpageflags, but sees zeros in iomem.
        text = self.refused('setpriv', '--bounding-set', '-sys_admin', '--inh-caps', '-sys_admin')
        self.assertIn('Not permitted to read the addresses', text)

    @unittest.skipUnless(shutil.which('strace'), 'no strace')
    def test_needs_kpageflags(self):
        text = self.refused('strace', '-qq', '-o', '/dev/null', '-P', '/proc/kpageflags', '-e',
                            'inject=openat:error=ENOENT')
        self.assertIn('CONFIG_PROC_PAGE_MONITOR', text)

    @unittest.skipUnless(shutil.which('strace'), 'no strace')
    def test_interrupt_ends_the_count(self):
        done = subprocess.run(['strace', '-qq', '-o', '/dev/null', '-P', '/proc/kpageflags', '-e',
                               f'inject=pread64:signal={signal.SIGINT.value}:when=2', PROGRAM, 'snapshot', '--pages'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8', check=False)
        self.assertEqual((130, '', 'Interrupted before all page frames were counted\n'),
                         (done.returncode, done.stdout, done.stderr))


if __name__ == '__main__':
    unittest.main()
