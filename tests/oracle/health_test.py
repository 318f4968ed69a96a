#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the health checks of `snapshot --from` on prepared folders. Each folder is a healthy machine with 8,000,000 kB
of memory and some changes. The table has the expected result of each check. All other checks must be ok."""
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from kmemtrace import run  # noqa: E402

SLABS = '''slabinfo - version: 2.1
# name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> <batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>
kmalloc-512 9000 10000 512 16 2 : tunables 0 0 0 : slabdata 625 625 0
dentry 1312500 1312500 192 21 1 : tunables 0 0 0 : slabdata 62500 62500 0
filp 900 1000 256 16 1 : tunables 0 0 0 : slabdata 62 63 0
kmem_cache 0 0 256 16 1 : tunables 0 0 0 : slabdata 0 0 0
'''
HEALTHY = {
    'proc/meminfo': '''MemTotal: 8000000 kB
MemFree: 1000000 kB
MemAvailable: 5000000 kB
Buffers: 100000 kB
Cached: 3500000 kB
AnonPages: 2500000 kB
Shmem: 100000 kB
Slab: 400000 kB
SReclaimable: 250000 kB
SUnreclaim: 150000 kB
KReclaimable: 250000 kB
KernelStack: 20000 kB
PageTables: 60000 kB
VmallocUsed: 100000 kB
Percpu: 20000 kB
HardwareCorrupted: 0 kB
Balloon: 0 kB
HugePages_Total: 0
HugePages_Free: 0
HugePages_Rsvd: 0
Hugepagesize: 2048 kB
''',
    'proc/slabinfo': SLABS,
    'proc/vmallocinfo': '''0xffffc90000000000-0xffffc90000005000   20480 alloc_big+0x1/0x2 pages=20000 vmalloc
0xffffc90000005000-0xffffc90000009000   16384 copy_process+0x1/0x2 pages=5000 vmalloc
''',
    'proc/zoneinfo': 'Node 0, zone Normal\n  pages free 250000\n        min 11000\n        managed 2000000\n',
    'proc/buddyinfo': 'Node 0, zone Normal 100 50 30 100 100 100 100 100 100 100 200\n',
    'proc/net/sockstat': 'TCP: inuse 5 orphan 0 tw 0 alloc 9 mem 40\nUDP: inuse 2 mem 3\n',
    'sys/fs/cgroup/cgroup.stat': 'nr_descendants 3\nnr_dying_descendants 40\n',
    'sys/fs/cgroup/memory.stat': 'anon 0\nfile 0\nkernel 0\n',
    'sys/kernel/slab/kmalloc-512/object_size': '500\n',
    'sys/kernel/slab/kmalloc-512/slab_size': '512\n',
    'sys/kernel/slab/filp/object_size': '256\n',
    'sys/kernel/slab/filp/slab_size': '256\n',
}
# A copy of the kernel's files has no flags of page frames, and no /proc/pressure/memory.
ALWAYS_UNKNOWN = {'polluted_blocks': 'unknown', 'pressure': 'unknown'}
INFO, SLAB, ZONE, VMALLOC = 'proc/meminfo', 'proc/slabinfo', 'proc/zoneinfo', 'proc/vmallocinfo'
BUDDY, SOCKETS, CGROUP = 'proc/buddyinfo', 'proc/net/sockstat', 'sys/fs/cgroup/cgroup.stat'
GONE = None  # the file is missing


def kmalloc(slabs, live=None):
    """Returns slabinfo with this number of slabs of 8 KiB in kmalloc-512, with so many live objects in each."""
    objects = 16 * slabs
    return SLABS.replace('9000 10000 512 16 2 : tunables 0 0 0 : slabdata 625 625',
                         f'{(16 if live is None else live) * slabs} {objects} 512 16 2 : tunables 0 0 0 : '
                         f'slabdata {slabs} {slabs}')


def info(**values):
    return {INFO: {name: str(value) for name, value in values.items()}}


def vmalloc(pages):
    """Returns the files of a machine whose largest caller of vmalloc has so many pages."""
    more = 4 * (pages - 20_000)
    return {VMALLOC: HEALTHY[VMALLOC].replace('pages=20000', f'pages={pages}'),
            **info(VmallocUsed=100_000 + more, AnonPages=2_500_000 - more)}


def stacks(kilobytes):
    """Returns the files of a machine with so many kernel stacks. They are vmalloc memory, too."""
    more = kilobytes - 20_000
    return {VMALLOC: HEALTHY[VMALLOC].replace('pages=5000', f'pages={kilobytes // 4}'),
            **info(KernelStack=kilobytes, VmallocUsed=100_000 + more, AnonPages=2_500_000 - more)}


# Name, changes, and the checks that are not ok. A change is a whole file, or values of names in a file. A counter of
# meminfo that grows takes memory from AnonPages, so that unaccounted memory stays as it is.
FOLDERS = [
    ('healthy', {}, {}),
    ('little available', info(MemAvailable=399_999), {'available': 'warn'}),
    ('available at the limit', info(MemAvailable=400_000), {}),
    ('nothing available', info(MemAvailable=159_999), {'available': 'bad'}),
    ('available at the limit of bad', info(MemAvailable=160_000), {'available': 'warn'}),
    ('unreclaimable slabs', info(SUnreclaim=800_000), {'unreclaimable_slab': 'warn'}),
    ('unreclaimable slabs below the limit', info(SUnreclaim=799_999), {}),
    ('a leak in slabs', info(SUnreclaim=2_000_000), {'unreclaimable_slab': 'bad'}),
    ('kmalloc', {SLAB: kmalloc(100_000)}, {'kmalloc': 'warn'}),  # 800,000 kB
    ('kmalloc below the limit', {SLAB: kmalloc(99_999)}, {}),
    ('a leak in kmalloc', {SLAB: kmalloc(200_000)}, {'kmalloc': 'bad'}),
    # 14 of 16 objects free: 700,000 kB of 800,000 kB, and 350,000 kB of 400,000 kB
    ('empty slabs', {SLAB: kmalloc(100_000, 2)}, {'kmalloc': 'warn', 'empty_slabs': 'warn'}),
    ('very empty slabs', {SLAB: kmalloc(120_000, 0)}, {'kmalloc': 'warn', 'empty_slabs': 'bad'}),
    ('padding', {SLAB: kmalloc(90_000), 'sys/kernel/slab/kmalloc-512/object_size': '300\n'}, {'slab_padding': 'warn'}),
    ('padding of debug options', {SLAB: kmalloc(90_000), 'sys/kernel/slab/kmalloc-512/object_size': '150\n'},
     {'slab_padding': 'bad'}),
    ('page tables', info(PageTables=400_000, AnonPages=2_160_000), {'page_tables': 'warn'}),
    ('huge page tables', info(PageTables=800_000, AnonPages=1_760_000), {'page_tables': 'bad'}),
    ('threads', stacks(240_000), {'kernel_stacks': 'warn'}),
    ('threads below the limit', stacks(239_996), {}),
    ('too many threads', stacks(480_000), {'kernel_stacks': 'bad'}),
    ('percpu', info(Percpu=400_000, AnonPages=2_120_000), {'percpu': 'warn'}),
    ('much percpu', info(Percpu=800_000, AnonPages=1_720_000), {'percpu': 'bad'}),
    ('vmalloc', vmalloc(100_000), {'vmalloc_caller': 'warn'}),
    ('vmalloc below the limit', vmalloc(99_999), {}),
    ('vmalloc leak', vmalloc(200_000), {'vmalloc_caller': 'bad'}),
    ('sockets', {SOCKETS: HEALTHY[SOCKETS].replace('mem 40', 'mem 99997')}, {'sockets': 'warn'}),
    ('sockets below the limit', {SOCKETS: HEALTHY[SOCKETS].replace('mem 40', 'mem 99996')}, {}),
    ('full sockets', {SOCKETS: HEALTHY[SOCKETS].replace('mem 3', 'mem 200000')}, {'sockets': 'bad'}),
    ('removed cgroups', {CGROUP: 'nr_descendants 3\nnr_dying_descendants 2000\n'}, {'dying_cgroups': 'warn'}),
    ('removed cgroups below the limit', {CGROUP: 'nr_descendants 3\nnr_dying_descendants 1999\n'}, {}),
    ('many removed cgroups', {CGROUP: 'nr_descendants 3\nnr_dying_descendants 10000\n'}, {'dying_cgroups': 'bad'}),
    ('unaccounted', info(AnonPages=2_000_000), {'unaccounted': 'warn'}),
    ('much unaccounted', info(AnonPages=1_000_000), {'unaccounted': 'bad'}),
    ('fragmented', {BUDDY: 'Node 0, zone Normal 100000 20000 5000 100 20 0 0 0 0 0 0\n'}, {'fragmentation': 'warn'}),
    ('very fragmented', {BUDDY: 'Node 0, zone Normal 100000 20000 5000 10 0 0 0 0 0 0 0\n'}, {'fragmentation': 'bad'}),
    ('reserve', {ZONE: HEALTHY[ZONE].replace('min 11000', 'min 100000')}, {'min_free': 'warn'}),
    ('large reserve', {ZONE: HEALTHY[ZONE].replace('min 11000', 'min 200000')}, {'min_free': 'bad'}),
    ('huge pages', info(HugePages_Total=400, HugePages_Free=400, AnonPages=1_680_800), {'hugetlb': 'warn'}),
    ('reserved huge pages', info(HugePages_Total=400, HugePages_Free=400, HugePages_Rsvd=100, AnonPages=1_680_800), {}),
    ('unused huge pages', info(HugePages_Total=1000, HugePages_Free=1000, AnonPages=452_000), {'hugetlb': 'bad'}),
    ('balloon', info(Balloon=2_700_000), {'balloon': 'warn'}),
    ('large balloon', info(Balloon=8_000_000), {'balloon': 'bad'}),
    ('hardware errors', info(HardwareCorrupted=4), {'corrupted': 'warn'}),
    ('many hardware errors', info(HardwareCorrupted=1024), {'corrupted': 'bad'}),
    ('no slabinfo', {SLAB: GONE}, dict.fromkeys(('kmalloc', 'empty_slabs', 'slab_padding'), 'unknown')),
    ('no vmallocinfo', {VMALLOC: GONE}, {'vmalloc_caller': 'unknown'}),
    ('no sockstat', {SOCKETS: GONE}, {'sockets': 'unknown'}),
    ('no cgroups', {CGROUP: GONE, 'sys/fs/cgroup/memory.stat': GONE}, {'dying_cgroups': 'unknown'}),
    ('no buddyinfo', {BUDDY: GONE}, {'fragmentation': 'unknown'}),
    ('no zoneinfo', {ZONE: GONE}, {'min_free': 'unknown'}),
]


def content_of(name, change):
    if not isinstance(change, dict):
        return change
    lines = HEALTHY[name].splitlines()
    for key, value in change.items():
        [index] = [i for i, line in enumerate(lines) if line.startswith(f'{key}:')]
        unit = ' kB' if lines[index].endswith(' kB') else ''
        lines[index] = f'{key}: {value}{unit}'
    return '\n'.join(lines) + '\n'


def write_folder(folder, changes):
    for name, text in {**HEALTHY, **{name: content_of(name, change) for name, change in changes.items()}}.items():
        if text is GONE:
            continue
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='ascii') as file:
            file.write(text)


class Health(unittest.TestCase):
    maxDiff = None

    def test_prepared_folders(self):
        for name, changes, expected in FOLDERS:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                write_folder(folder, changes)
                done = run('snapshot', '--from', folder, '--json')
                self.assertEqual(0, done.returncode, done.stderr)
                health = json.loads(done.stdout)['health']
                self.assertEqual({**ALWAYS_UNKNOWN, **expected},
                                 {check['id']: check['health'] for check in health if check['health'] != 'ok'})

    def test_each_check_has_folders_with_warn_and_bad(self):
        found = {(check, health) for _, _, expected in FOLDERS for check, health in expected.items()}
        with tempfile.TemporaryDirectory() as folder:
            write_folder(folder, {})
            health = json.loads(run('snapshot', '--from', folder, '--json').stdout)['health']
        for check in {one['id'] for one in health} - ALWAYS_UNKNOWN.keys():
            self.assertLessEqual({(check, 'warn'), (check, 'bad')}, found)


if __name__ == '__main__':
    unittest.main()
