#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests recording of percpu memory and vmap areas on the running kernel: this process and others allocate known numbers
of them.
  allocators_test.py [TEST…]"""
import collections
import contextlib
import ctypes
import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
import unittest

import recording
from recording import LiveTest, TRACEFS, events_of, in_interrupt, wait_until

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
import kmem_oracle  # noqa: E402

EVENTS = 'percpu:*,vmalloc:*'
# Creates network namespaces one after the other. Each namespace allocates the same number of percpu counters.
NAMESPACES = 'import os, sys, ctypes; print(os.getpid()); c = ctypes.CDLL(None); ' \
             '[c.unshare(0x40000000) for i in range(int(sys.argv[1]))]'
WORKLOAD = 'for i in 1 2 3 4 5; do unshare -n -m sh -c "mount -t tmpfs none /mnt; ls / | sort > /dev/null"; done; sleep 0.5'

BPF = {'x86_64': 321, 'aarch64': 280, 's390x': 351}
BPF_MAP_CREATE, ARRAY, PERCPU_ARRAY = 0, 2, 6


def bpf_map(kind, value_bytes, entries):
    """Creates a BPF map. Returns its file descriptor; closing the descriptor frees the map."""
    attributes = (ctypes.c_uint32 * 32)(kind, 4, value_bytes, entries)
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(BPF[platform.machine()], BPF_MAP_CREATE, attributes, ctypes.sizeof(attributes))
    if fd < 0:
        raise OSError(ctypes.get_errno(), 'bpf')
    return fd


def can_make_maps():
    if platform.machine() not in BPF:
        return False
    with contextlib.suppress(OSError):
        os.close(bpf_map(ARRAY, 8, 1))
        return True
    return False


def report(path, *options):
    done = subprocess.run([recording.PROGRAM, 'report', '--json', '--limit', '0', *options, path],
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def vmallocinfo():
    """Returns the number of areas of each size. Freed areas that wait to be purged do not count."""
    with open('/proc/vmallocinfo', encoding='ascii') as file:
        return collections.Counter(int(line.split()[1]) for line in file if ' unpurged ' not in line)


def more_areas(before, least):
    """Returns the sizes of the areas that did not exist before."""
    return [size for size in (vmallocinfo() - before).elements() if size >= least]


class Allocators(LiveTest):
    FILE = 'trace.dat'  # the oracle reads the file with trace-cmd

    def setUp(self):
        super().setUp()
        if not os.path.isdir(f'{TRACEFS}/events/percpu') or not os.path.isdir(f'{TRACEFS}/events/vmalloc'):
            self.skipTest('this kernel lacks percpu or vmalloc events')

    def check_with_oracle(self, *options):
        self.record(*options, '--', 'sh', '-c', WORKLOAD)
        want = kmem_oracle.Report(kmem_oracle.parse(kmem_oracle.report_text(self.trace)), os.sysconf('SC_PAGE_SIZE'))
        got = report(self.trace)
        kmem_oracle.allow_own_frees(want, got)
        found = kmem_oracle.differences(want, got)
        self.assertFalse(found, '\n'.join(found[:20]))
        percpu, vmalloc = want.allocators['percpu'].totals, want.allocators['vmalloc'].totals
        self.assertGreater(percpu['allocations'], 100)
        self.assertGreater(percpu['matched_frees'], 5)
        self.assertGreater(vmalloc['allocations'], 0)
        return want

    def test_agrees_with_the_text_of_trace_cmd(self):
        want = self.check_with_oracle('-e', EVENTS)
        self.assertEqual(want.slab['allocations'], 0)

    def test_is_recorded_by_default(self):
        want = self.check_with_oracle()
        self.assertGreater(want.slab['matched_frees'], 1000)
        self.assertGreater(want.pages['frees'], 100)

    def namespaces(self, count):
        """Records a process that creates namespaces. Returns its process ID and the counts of perf."""
        counted = ('percpu:percpu_alloc_percpu', 'vmalloc:alloc_vmap_area')
        process = self.launch('-e', EVENTS, '--', 'perf', 'stat', '-x,', '-o', f'{self.directory}/perf.csv', '-e',
                              ','.join(counted), '--', sys.executable, '-c', NAMESPACES, str(count))
        output, messages = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, messages)
        self.assert_nothing_left(process.pid)
        with open(f'{self.directory}/perf.csv', encoding='ascii') as file:
            fields = [line.split(',') for line in file]
        return output.split()[0], {row[2]: int(row[0]) for row in fields if len(row) > 2 and row[2] in counted}

    def test_agrees_with_perf_stat(self):
        pid, counted = self.namespaces(20)
        seen = collections.Counter(e.name for e in events_of(self.trace) if e.pid == int(pid) and not in_interrupt(e))
        # perf starts counting inside execve(). This has little effect: a new mm has few counters, a namespace has many.
        allocations = counted['percpu:percpu_alloc_percpu']
        self.assertGreater(allocations, 20 * 10)
        self.assertAlmostEqual(seen['percpu_alloc_percpu'], allocations, delta=20)
        self.assertAlmostEqual(seen['alloc_vmap_area'], counted['vmalloc:alloc_vmap_area'], delta=5)
        self.assertEqual(report(self.trace, '--pid', pid)['percpu']['allocations'], seen['percpu_alloc_percpu'])

    def test_call_sites_scale_with_the_work(self):
        hits = []
        for count in (10, 30):
            pid, _ = self.namespaces(count)
            rows = report(self.trace, '--pid', pid)['percpu_call_sites']
            hits.append({row['symbol']: row['allocations'] for row in rows})
        sites = [site for site, count in hits[1].items() if count >= 30 and count % 30 == 0]
        self.assertGreater(len(sites), 5, hits[1])
        for site in sites:
            self.assertEqual(hits[0].get(site, 0) * 3, hits[1][site], site)

    def recorded(self, work):
        """Records this process while it runs `work`. Returns the report on the events of this process."""
        # Without -b, the recorder first measures the event rate. start() would mistake this measurement for the
        # recording and return too early.
        process = self.start('-b', '16M', '-e', EVENTS + ',kmem:kmalloc')
        work()
        process.send_signal(signal.SIGINT)
        self.finish(process)
        return report(self.trace, '--pid', str(os.getpid()))

    @unittest.skipUnless(can_make_maps(), 'no BPF maps here')
    def test_held_objects_are_live(self):
        maps = []
        before = vmallocinfo()
        with open('/sys/devices/system/cpu/possible', encoding='ascii') as file:
            possible = sum(int(last or first) - int(first) + 1
                           for first, last in re.findall(r'(\d+)(?:-(\d+))?', file.read()))

        def work():
            maps.extend((bpf_map(PERCPU_ARRAY, 64, 500), bpf_map(ARRAY, 1 << 20, 3)))
        got = self.recorded(work)
        new = more_areas(before, 3 << 20)
        for fd in maps:
            os.close(fd)

        site = max(got['percpu_call_sites'], key=lambda row: row['allocations'])
        self.assertEqual((site['allocations'], site['bytes_requested'], site['frees']), (500, 500 * 64, 0), site)
        # The requested bytes for each CPU. If memory is charged to cgroups, one pointer for every 4 bytes is added.
        charged = 64 // 4 * ctypes.sizeof(ctypes.c_void_p)
        self.assertIn(site['bytes_allocated'], (500 * 64 * possible, 500 * (64 * possible + charged)))
        self.assertEqual((site['live_allocations'], site['live_bytes']), (500, site['bytes_allocated']))

        page = os.sysconf('SC_PAGE_SIZE')
        areas = [int(e.fields['size']) for e in events_of(self.trace)
                 if e.name == 'alloc_vmap_area' and e.pid == os.getpid()]
        large = [size for size in areas if size >= 3 << 20]
        self.assertEqual(len(large), 1, areas)
        # The area has the values of the map, a page for the map's header, and a guard page. /proc/vmallocinfo must show
        # this area too.
        self.assertEqual(large[0], (3 << 20) + 2 * page)
        self.assertEqual(new, large)
        self.assertEqual((got['vmalloc']['allocations'], got['vmalloc']['bytes_allocated']), (len(areas), sum(areas)))
        self.assertGreaterEqual(got['vmalloc']['live_bytes'], large[0])

    @unittest.skipUnless(can_make_maps(), 'no BPF maps here')
    def test_frees_by_any_task_count(self):
        before = vmallocinfo()

        def work():
            for fd in (bpf_map(PERCPU_ARRAY, 64, 500), bpf_map(ARRAY, 1 << 20, 3)):
                os.close(fd)
            # Kernel workers free the maps later. /proc/vmallocinfo shows when the area is freed, but not when the
            # percpu objects are.
            self.assertTrue(wait_until(lambda: not more_areas(before, 3 << 20)))
            time.sleep(3)
        got = self.recorded(work)
        site = max(got['percpu_call_sites'], key=lambda row: row['allocations'])
        self.assertEqual((site['allocations'], site['frees'], site['live_bytes']), (500, 500, 0), site)
        self.assertEqual(got['percpu']['bytes_allocated'], got['percpu']['bytes_freed'] + got['percpu']['live_bytes'])
        self.assertGreaterEqual(got['vmalloc']['bytes_freed'], 3 << 20)


if __name__ == '__main__':
    unittest.main()
