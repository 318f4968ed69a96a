#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares `snapshot --json` with an independent calculation of the definitions in docs/formats/snapshot-json.md,
from the same files. The files are of four architectures and two kernels, before and after some work. Generated files
have rare cases."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from kmemtrace import data, run  # noqa: E402

KERNELS = ('5.10', '6.1', '6.12', '6.18', '7.2')  # amd64 kernels whose folders have more files
MACHINES = ('amd64', 'amd64-5.10', 'arm64', 'i386', 's390x')
PAGE = 4096


def snapshot(*arguments):
    done = run('snapshot', *arguments, '--json', '--limit', '0')
    if done.returncode != 0:
        raise AssertionError(f'snapshot {arguments}: exit {done.returncode}: {done.stderr}')
    return json.loads(done.stdout)


def text(folder, name):
    try:
        with open(os.path.join(folder, name), encoding='ascii') as file:
            return file.read()
    except FileNotFoundError:
        return ''


def meminfo(folder):
    values = {}
    for line in text(folder, 'meminfo').splitlines():
        name, value = line.split(':')
        number, *unit = value.split()
        values[name] = int(number) * (1024 if unit else 1)
    return values


def slabs(folder):
    for line in text(folder, 'slabinfo').splitlines()[2:]:
        fields = line.split()
        active, objects, size, _, pages = map(int, fields[1:6])
        yield fields[0], active, objects, size, int(fields[14]) * pages * PAGE


def expected(folder):
    """Returns the main lines of the balance sheet (depth 0), and those lines below them that are computed from two
    files."""
    have = meminfo(folder)
    caches = list(slabs(folder))
    on_cpus = sum(int(line.split()[1]) for line in text(folder, 'zoneinfo').splitlines()
                  if line.strip().startswith('count:'))
    used = sum(active * size for _, active, _, size, _ in caches)
    empty = sum((objects - active) * size for _, active, objects, size, _ in caches)
    held = sum(slab for *_, slab in caches)
    stacks = 0 if 'i386' in folder else have['KernelStack']
    lines = {
        'free': have['MemFree'] + on_cpus * PAGE,
        'user': have['AnonPages'] + have['Cached'] + have['Buffers'],
        'hugetlb': have.get('Hugetlb', 0),
        'slab': have['Slab'],
        'vmalloc': have['VmallocUsed'] - stacks,
        'kernel-stacks': have['KernelStack'],
        'page-tables': have['PageTables'] + have.get('SecPageTables', 0),
        'percpu': have['Percpu'],
        'others': have['KReclaimable'] - have['SReclaimable'],
    }
    lines['unaccounted'] = have['MemTotal'] - sum(lines.values())
    lines.update({'slab.in-use': used, 'slab.empty': empty, 'slab.tails': held - used - empty,
                  'slab.large': have['Slab'] - held, 'user.shmem': have['Shmem'],
                  'user.file': have['Cached'] - have['Shmem']})
    if text(folder, 'zoneinfo'):
        lines['free.cpu-lists'] = on_cpus * PAGE
    return lines


class Case(unittest.TestCase):
    maxDiff = None

    def copied(self, machine, when):
        """Returns a separate copy of the folder, which the test may change."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        shutil.copytree(data(f'snapshot/{machine}/{when}'), folder, dirs_exist_ok=True)
        return folder

    def assert_adds_up(self, result):
        lines = [line for line in result['balance'] if line['counted']]
        self.assertEqual(result['total_bytes'], sum(line['bytes'] for line in lines if line['depth'] == 0))
        for i, line in enumerate(lines):
            parts = []
            for part in lines[i + 1:]:
                if part['depth'] == 0:
                    break
                parts.append(part['bytes'])
            if line['depth'] == 0 and parts:
                self.assertEqual(line['bytes'], sum(parts), line['id'])


def line(result, name):
    return next(one['bytes'] for one in result['balance'] if one['id'] == name)


class Copies(Case):
    def test_all_lines_of_all_machines(self):
        for machine in MACHINES:
            for when in ('before', 'after'):
                with self.subTest(machine=machine, when=when):
                    folder = data(f'snapshot/{machine}/{when}')
                    result = snapshot('--from', folder)
                    self.assert_adds_up(result)
                    got = {one['id']: one['bytes'] for one in result['balance']}
                    want = expected(folder)
                    self.assertEqual(want, {name: got[name] for name in want})
                    self.assertEqual(PAGE, result['page_size'])
                    self.assertEqual(meminfo(folder), result['meminfo'])
                    self.assertEqual(0, result['unknown_lines_total'])
                    # These machines were idle, so the unaccounted memory must be a small share.
                    self.assertLess(abs(got['unaccounted']), result['total_bytes'] / 20)

    def test_each_kernel(self):
        for kernel in KERNELS:
            with self.subTest(kernel=kernel):
                folder = data(f'snapshot/kernels/{kernel}')
                result = snapshot('--from', folder)
                self.assert_adds_up(result)
                self.assertEqual([], result['unknown_lines'])
                self.assertTrue(result['release'].startswith(kernel + '.'))
                got = {one['id']: one['bytes'] for one in result['balance']}
                want = expected(folder)
                self.assertEqual(want, {name: got[name] for name in want})
                self.assert_vmalloc(folder, result)
                blocks = {(int(words[1].rstrip(',')), words[3]): list(map(int, words[4:]))
                          for words in map(str.split, text(folder, 'buddyinfo').splitlines())}
                self.assertEqual(blocks, {(zone['node'], zone['zone']): zone['free_blocks'] for zone in result['zones']
                                          if zone['free_blocks']})
                types = [row for row in text(folder, 'pagetypeinfo').splitlines() if ', type ' in row]
                self.assertEqual(len(types), len(result['free_by_type']))

    def assert_vmalloc(self, folder, result):
        pages, stacks = 0, 0
        for row in text(folder, 'vmallocinfo').splitlines():
            match = re.search(r' (\S+)\+0x\S+ .*pages=(\d+) vmalloc', row)
            if match and match[1] in ('kernel_clone', 'fork_idle'):
                stacks += int(match[2])
            elif match:
                pages += int(match[2])
        self.assertEqual(pages * PAGE, line(result, 'vmalloc.callers'))
        self.assertEqual(max(stacks * PAGE - result['meminfo']['KernelStack'], 0), line(result, 'vmalloc.spare-stacks'))
        self.assertLess(abs(line(result, 'vmalloc.rest')), 256 * 1024)  # the files were read at different times

    def test_each_cache(self):
        for machine in MACHINES:
            folder = data(f'snapshot/{machine}/after')
            want = {name: (active, objects, size, held) for name, active, objects, size, held in slabs(folder)}
            got = {cache['name']: (cache['active_objects'], cache['objects'], cache['object_bytes'], cache['held_bytes'])
                   for cache in snapshot('--from', folder)['slab_caches']}
            self.assertEqual(want, got)

    def test_a_file_reads_the_same(self):
        for machine in MACHINES:
            folder = data(f'snapshot/{machine}/after')
            with tempfile.TemporaryDirectory() as out:
                path = f'{out}/snapshot.kmt'
                self.assertEqual(0, run('snapshot', '--from', folder, '-o', path).returncode)
                self.assertEqual({**snapshot('--from', folder), 'files': []}, snapshot(path))

    def test_diff_is_the_difference(self):
        for machine in MACHINES:
            with tempfile.TemporaryDirectory() as out:
                for when in ('before', 'after'):
                    run('snapshot', '--from', data(f'snapshot/{machine}/{when}'), '-o', f'{out}/{when}.kmt')
                done = run('diff', f'{out}/before.kmt', f'{out}/after.kmt', '--json', '--limit', '0')
                self.assertEqual(0, done.returncode, done.stderr)
                result = json.loads(done.stdout)
                for side, when in (('a', 'before'), ('b', 'after')):
                    want = expected(data(f'snapshot/{machine}/{when}'))
                    got = {one['id']: one[side] for one in result['balance']}
                    self.assertEqual(want, {name: got[name] for name in want})
                before, after = ({name: held for name, *_, held in slabs(data(f'snapshot/{machine}/{when}'))}
                                 for when in ('before', 'after'))
                want = {name: (before.get(name, 0), after.get(name, 0)) for name in {**before, **after}}
                self.assertEqual({name: both for name, both in want.items() if both[0] != both[1]},
                                 {one['name']: (one['a'], one['b']) for one in result['slab_caches']})


def frames(lines):
    return [re.sub(r'^\[<\w+>\] ', '', line.strip()) for line in lines]


class Debugging(Case):
    """Files of kernels with debugging features, as written by these kernels."""

    def of(self, kernel):
        folder = self.copied('amd64', 'after')
        self.debugging = data(f'snapshot/debugging/{kernel}')
        shutil.copytree(self.debugging, folder, dirs_exist_ok=True)
        result = snapshot('--from', folder)
        self.assertEqual([], result['unknown_lines'])
        return result

    def records(self, name):
        return [record.splitlines() for record in text(self.debugging, name).split('\n\n') if record.strip()]

    def test_slub(self):
        result = self.of('slub-6.12')
        for name, key in (('alloc_traces', 'slab_allocations'), ('free_traces', 'slab_frees')):
            want = []
            for cache in ('kmalloc-1k', 'kmalloc-512'):
                lines = text(self.debugging, f'sys/kernel/debug/slab/{cache}/{name}').splitlines()
                for line in filter(None, lines):  # a record may have an empty line after it, but not if it has no stack
                    if line.startswith('\t') or line.startswith(' ' * 8):
                        want[-1][-1].append(line.strip())
                    else:
                        count, site, more = line.split(maxsplit=2)
                        want.append((cache, site, int(count), more, []))
            self.assertGreater(len(want), 8)
            self.assertCountEqual(want, [(site['of'], site['site'], site['count'], site['more'], site['stack'])
                                         for site in result[key]])

    def test_page_owner(self):
        result = self.of('published-6.6')
        want = [(1, 4096, frames(line for line in lines if line.startswith(' '))) for lines in self.records('page_owner')]
        self.assertEqual(3, len(want))
        self.assertCountEqual(want, [(site['count'], site['bytes'], site['stack']) for site in result['page_owners']])

    def test_processes_of_sites(self):
        """The kernels of these records name the process in different ways."""
        def more(key, site):
            return next(one['more'] for one in self.of('published-6.6')[key] if one['site'].startswith(site))
        self.assertEqual('by pid 1', more('page_owners', 'register_early_stack'))
        self.assertEqual('by podman (pid 162970)', more('page_owners', 'shmem_alloc_page+'))
        self.assertIsNone(more('page_owners', '__do_page_cache_readahead'))
        self.assertEqual('by poc (pid 14081)', more('kmemleak', 'create_filter'))

    def test_page_owner_stacks(self):
        result = self.of('published-6.12')
        want = [(int(lines[-1].split(': ')[1]), frames(lines[:-1])) for lines in self.records('page_owner_stacks')]
        self.assertEqual([16, 20824, 9643], [pages for pages, _ in want])
        self.assertCountEqual(want, [(site['count'], site['stack']) for site in result['page_owners']])

    def test_kmemleak(self):
        for kernel, want in (('published-6.6', [(8, 3), (96, 4)]), ('published-6.12', [(64, 4)])):
            found = self.of(kernel)['kmemleak']
            self.assertCountEqual(want, [(site['bytes'], len(site['stack'])) for site in found])
            for site in found:
                self.assertIn(f'] {site["site"]}\n', text(self.debugging, 'kmemleak'))

    def test_allocinfo(self):
        result = self.of('published-6.12')
        want = []
        for line in text(self.debugging, 'allocinfo').splitlines():
            size, count, place, *module, function = line.split()
            want.append((int(size), int(count), f'{place} {function[5:]}', module[0][1:-1] if module else None))
        self.assertCountEqual(want, [(site['bytes'], site['count'], site['site'], site['of'])
                                     for site in result['allocinfo']])


class Made(Case):
    """Generated cases that the recorded snapshots lack."""

    def setUp(self):
        self.folder = self.copied('amd64', 'after')
        self.before = snapshot('--from', self.folder)

    def write(self, name, contents):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(contents)

    def changed(self, **values):
        lines = []
        for one in text(self.folder, 'meminfo').splitlines():
            name = one.split(':')[0]
            lines.append(f'{name}: {values.pop(name)} kB' if name in values else one)
        self.write('meminfo', '\n'.join(lines + [f'{name}: {value} kB' for name, value in values.items()]) + '\n')
        result = snapshot('--from', self.folder)
        self.assert_adds_up(result)
        return result

    def assert_moved(self, result, name, by):
        """Checks that the line has `by` more bytes, and that unaccounted memory has as many fewer."""
        self.assertEqual(by, line(result, name) - line(self.before, name), name)
        self.assertEqual(-by, line(result, 'unaccounted') - line(self.before, 'unaccounted'))

    def test_other_counters(self):
        kreclaimable = self.before['meminfo']['KReclaimable'] // 1024
        for change, name, by in (
                ({'Hugetlb': 4096}, 'hugetlb', 4096), ({'SecPageTables': 100}, 'page-tables', 100),
                ({'KReclaimable': kreclaimable + 8}, 'others.reclaimable', 8), ({'GPUActive': 64}, 'others.gpu', 64),
                ({'Bounce': 12}, 'others.bounce', 12), ({'Zswap': 20}, 'others.zsmalloc', 20),
                ({'HardwareCorrupted': 4}, 'others.corrupted', 4)):
            with self.subTest(name=name):
                self.folder = self.copied('amd64', 'after')
                self.assert_moved(self.changed(**change), name, by * 1024)

    def test_memory_counted_in_other_lines(self):
        for change in ({'Unaccepted': 100}, {'CmaTotal': 300, 'CmaFree': 100}, {'Balloon': 50}, {'AnonHugePages': 64}):
            with self.subTest(change=change):
                self.folder = self.copied('amd64', 'after')
                result = self.changed(**change)
                self.assertEqual(line(self.before, 'unaccounted'), line(result, 'unaccounted'))
                self.assertEqual(len(self.before['balance']) + (2 if 'CmaTotal' in change else 1), len(result['balance']))

    def test_swap_cache_is_the_rest_of_the_page_lists(self):
        have = self.before['meminfo']
        on_lists = have['Active(anon)'] + have['Inactive(anon)'] - have['Shmem'] - have['AnonPages']
        self.assert_moved(self.changed(SwapCached=1 << 20), 'user.swap-cache', max(on_lists, 0))
        self.folder = self.copied('amd64', 'after')
        lists = have['Inactive(anon)'] // 1024 + 500
        self.assert_moved(self.changed(**{'SwapCached': 300, 'Inactive(anon)': lists}), 'user.swap-cache', 300 * 1024)

    def test_percpu_without_its_first_chunk(self):
        self.write('dmesg', '[    0.1] setup_percpu: NR_CPUS:512 nr_cpumask_bits:2 nr_cpu_ids:2 nr_node_ids:2\n'
                            '[    0.1] percpu: Embedded 55 pages/cpu s188416 r8192 d28672 u1048576\n')
        result = snapshot('--from', self.folder)
        self.assert_adds_up(result)
        self.assert_moved(result, 'percpu', -55 * 2 * PAGE)
        self.assertEqual(55 * 2 * PAGE, result['percpu']['first_chunk_bytes'])

    def test_vmalloc(self):
        stacks = self.before['meminfo']['KernelStack'] // PAGE
        self.write('vmallocinfo', ''.join((
            f'0x00000000ee3ff000-0x00000000c6dcd0e5   20480 irq_init_percpu_irqstack+0xca/0x100 vmap\n',
            f'0x00000000a45885ae-0x000000005ee08bf4   20480 dup_task_struct+0x94/0x3e0 pages={stacks + 8} vmalloc N0=4\n',
            '0x00000000612ef572-0x00000000e80a9a44    8192 map_it+0x12d/0x1c0 phys=0x0000004000000000 ioremap\n',
            '0x0000000000000001-0x0000000000000002  528384 take+0x1/0x2 [module] pages=128 vmalloc vpages N0=128\n',
            '0x0000000000000003-0x0000000000000004    8192 take+0x5/0x6 [module] pages=1 vmalloc N0=1\n',
            '0x0000000000000005-0x0000000000000006    8192 unpurged vm_area\n'
            '0x0000000000000007-0x0000000000000008   16384 vm_map_ram\n')))
        result = snapshot('--from', self.folder)
        self.assert_adds_up(result)
        self.assertEqual(line(self.before, 'vmalloc'), line(result, 'vmalloc'))
        self.assertEqual(129 * PAGE, line(result, 'vmalloc.callers'))
        self.assertEqual(8 * PAGE, line(result, 'vmalloc.spare-stacks'))
        callers = {one['function']: one for one in result['vmalloc']}
        self.assertEqual({'irq_init_percpu_irqstack', 'dup_task_struct', 'map_it', 'take', 'unpurged vm_area', 'vm_map_ram'},
                         set(callers))
        self.assertEqual((2, 129 * PAGE, 536576, 0),
                         tuple(callers['take'][key] for key in ('areas', 'bytes', 'virtual_bytes', 'mapped_bytes')))
        self.assertEqual(8192, callers['map_it']['mapped_bytes'])

    def test_slab_folder(self):
        cache = next(one for one in self.before['slab_caches'] if one['name'] == 'kmalloc-96')
        for name, value in (('object_size', '90'), ('slab_size', '96'), ('align', '8'), ('order', '0'),
                            ('cpu_slabs', '3 N0=2 N1=1'), ('partial', '2 N1=2'), ('slabs_cpu_partial', '128(4) C0=64(2)'),
                            ('from_tomorrow', 'a b')):
            self.write(f'sys/kernel/slab/:0000096/{name}', value + '\n')
        for alias in ('kmalloc-96', 'another'):
            os.symlink(':0000096', os.path.join(self.folder, 'sys/kernel/slab', alias))
        result = snapshot('--from', self.folder)
        self.assert_adds_up(result)
        now = next(one for one in result['slab_caches'] if one['name'] == 'kmalloc-96')
        self.assertEqual((cache['active_objects'] * 6, ['another'], 3, 2, 4, 90),
                         tuple(now[key] for key in ('padding_bytes', 'merged', 'cpu_slabs', 'partial_slabs',
                                                    'cpu_partial_slabs', 'asked_object_bytes')))
        self.assertEqual({'from_tomorrow': 'a b'}, now['attributes'])
        self.assertEqual(cache['active_objects'] * 6, line(result, 'slab.padding'))
        self.assertEqual(line(self.before, 'slab'), line(result, 'slab'))
        # The same content in one file, in the form that grep prints.
        folder = f'{self.folder}/sys/kernel/slab'
        grep = subprocess.run(['grep', '-rs', ''], cwd=folder, stdout=subprocess.PIPE, encoding='utf-8', check=True).stdout
        shutil.rmtree(f'{self.folder}/sys')
        self.write('slab', grep + 'kmalloc-96 -> :0000096\nanother -> :0000096\n')
        again = snapshot('--from', self.folder)
        self.assertEqual(result['slab_caches'], again['slab_caches'])

    def test_who_allocated(self):
        self.write('allocinfo', 'allocinfo - version: 1.0\n#     <size>  <calls> <tag info>\n'
                                '       8192        2 mm/slub.c:2367 func:alloc_slab_page \n'
                                '          96        1 net/a.c:1 [mod] func:take accurate:no\n'
                                '           0        0 net/b.c:1 func:none\n')
        self.write('sys/kernel/debug/slab/kmalloc-96/alloc_traces',
                   '     25 take+0x1/0x2 [mod] waste=400/16 age=1/2/3 pid=1-2 cpus=0\n'
                   '\ttake+0x1/0x2 [mod]\n\tentry+0x3/0x4\n\n'
                   '      3 other+0x1/0x2 age=5 pid=1\n\tother+0x1/0x2\n\n')
        self.write('page_owner', 'Page allocated via order 2, mask 0x0(), pid 1, tgid 1 (init), ts 1 ns, free_ts 0 ns\n'
                                 'PFN 0x1 type Movable Block 0 type Movable Flags 0x0()\n'
                                 ' get_page+0x1/0x2\n take+0x1/0x2\n\n'
                                 'Page allocated via order 0, mask 0x0(), pid 9, tgid 8 (a (b), ts), ts 1 ns\n'
                                 'PFN 0x5 type Movable Block 0 type Movable Flags 0x0()\n'
                                 ' get_page+0x1/0x2\n take+0x1/0x2\n\n')
        self.write('kmemleak', 'unreferenced object 0xffff (size 32):\n  comm "x", pid 1, jiffies 1 (age 1.0s)\n'
                               '  hex dump (first 32 bytes):\n    00 00\n  backtrace:\n    [<00000000deadbeef>] lost+0x1/0x2\n'
                               'unreferenced object 0xfffe (size 16):\n  backtrace (crc 0):\n    lost+0x1/0x2\n')
        self.write('cgroups', '/memory.stat:anon 10\n/memory.stat:file 5\n/memory.stat:slab 7\n/memory.stat:percpu 1\n'
                              '/a:b/memory.stat:kernel 3\n/a:b/memory.stat:slab 2\n')
        result = snapshot('--from', self.folder)
        self.assertEqual(0, result['unknown_lines_total'], result['unknown_lines'])
        self.assertEqual([('mm/slub.c:2367 alloc_slab_page', None, 2, 8192), ('net/a.c:1 take', 'mod', 1, 96)],
                         [(one['site'], one['of'], one['count'], one['bytes']) for one in result['allocinfo']])
        self.assertEqual('accurate:no', result['allocinfo'][1]['more'])
        self.assertEqual([('take+0x1/0x2 [mod]', 'kmalloc-96', 25, ['take+0x1/0x2 [mod]', 'entry+0x3/0x4']),
                          ('other+0x1/0x2', 'kmalloc-96', 3, ['other+0x1/0x2'])],
                         [(one['site'], one['of'], one['count'], one['stack']) for one in result['slab_allocations']])
        self.assertEqual([(5, 5 * PAGE, ['get_page+0x1/0x2', 'take+0x1/0x2'])],
                         [(one['count'], one['bytes'], one['stack']) for one in result['page_owners']])
        self.assertEqual(['by init (pid 1), a (b), ts (pid 8)'], [one['more'] for one in result['page_owners']])
        self.assertEqual([(2, 48, 'by x (pid 1)')],
                         [(one['count'], one['bytes'], one['more']) for one in result['kmemleak']])
        self.assertEqual([('/', 8, 15), ('/a:b', 3, None)],
                         [(one['path'], one['kernel_bytes'], one['user_bytes']) for one in result['cgroups']])

    def test_unknown_lines_are_kept(self):
        with open(f'{self.folder}/slabinfo', 'a', encoding='ascii') as file:
            file.write('what is this\n')
        with open(f'{self.folder}/meminfo', 'a', encoding='ascii') as file:
            file.write('FromTomorrow:   12 kB\n')
        result = snapshot('--from', self.folder)
        self.assertEqual(12 * 1024, result['meminfo']['FromTomorrow'])
        self.assertEqual(1, result['unknown_lines_total'])
        self.assertEqual([{'source': 'slabinfo', 'line': 'what is this'}], result['unknown_lines'])
        self.assert_adds_up(result)

    def test_hostile_numbers_still_add_up(self):
        self.assert_adds_up(self.changed(Slab=2 ** 46 - 1, MemFree=2 ** 46 - 1, Cached=2 ** 46 - 1, Percpu=0))
        result = self.changed(Mlocked=2 ** 64 - 1)
        self.assertEqual('meminfo', result['unknown_lines'][0]['source'])
        self.assertNotIn('Mlocked', result['meminfo'])

    def test_impossible_required_numbers_are_refused(self):
        with self.assertRaisesRegex(AssertionError, 'exit 2: .*MemFree'):
            self.changed(MemFree=2 ** 64 - 1)

    def test_unusual_page_size(self):
        pages = self.before['meminfo']['MemFree'] // 65536
        self.write('vmstat', f'nr_free_pages {pages}\n')
        # x86-64 has no pages of 64 KiB, so uname and the size of the vmalloc area must be those of arm64
        self.write('uname', 'Linux host 6.1.0 #1 SMP aarch64 GNU/Linux\n')
        self.changed(VmallocTotal=133009506240)
        self.assertEqual(65536, snapshot('--from', self.folder)['page_size'])


if __name__ == '__main__':
    unittest.main()
