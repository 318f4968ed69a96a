#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests relay files of every layout and byte order. The test suite writes them and computes the expected results
from the events. Events of real traces must give the same report in either format."""
import collections
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import relay_files  # noqa: E402
import trace_text  # noqa: E402
import tracedat  # noqa: E402
from kmemtrace import data, report, run  # noqa: E402

ALLOCATIONS = ('kmalloc', 'kmalloc_node', 'kmem_cache_alloc', 'kmem_cache_alloc_node')
FREES = ('kfree', 'kmem_cache_free')


def totals_of(made):
    """Returns the expected report: live objects by pointer, sums by call site."""
    live, sites = {}, collections.defaultdict(lambda: [0, 0, 0, 0])
    for event in made:
        if event.allocates:
            live[event.ptr] = event
            site = sites[f'{event.call_site:#x}']
            site[0] += 1
            site[1] += event.requested
            site[2] += event.allocated
        else:
            live.pop(event.ptr, None)
    for event in live.values():
        sites[f'{event.call_site:#x}'][3] += event.allocated
    return dict(sites)


def reported(found):
    return {row['address']: [row['allocations'], row['bytes_requested'], row['bytes_allocated'], row['live_bytes']]
            for row in found['call_sites']}


def comparable(found, timed=True):
    """Returns a report without the values that depend on the format."""
    slab = {key: value for key, value in found['slab'].items() if timed or key not in ('lifetime', 'peak_ns')}
    return slab, found['call_sites']


class RelayTest(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)


class Layouts(RelayTest):
    def test_each_layout(self):
        for abi in relay_files.ABIS:
            with self.subTest(abi=abi):
                made = relay_files.events(1000, long_bytes=8 if abi.startswith('v3-64') else 4)
                relay_files.write(self.folder, abi, made)
                found = report(self.folder)
                self.assertTrue(found['trace']['format'].endswith(f' {abi}'), found['trace']['format'])
                self.assertEqual(found['trace']['events'], len(made))
                self.assertEqual(found['trace']['word_bits'], 64 if abi.startswith('v3-64') else 32)
                self.assertEqual(reported(found), totals_of(made))
                checked = run('check', self.folder)
                # layout v2 has no times; a message reports this
                self.assertEqual(checked.returncode, 1 if abi.startswith('v2') else 0, checked.stdout)
                converted = self.path('c.kmt')
                self.assertEqual(run('convert', self.folder, converted).returncode, 0)
                again = report(converted)
                self.assertEqual(comparable(again), comparable(found))
                os.remove(converted)
                folder = self.path('c.ctf')
                self.assertEqual(run('convert', self.folder, folder).returncode, 0)
                self.assertEqual(comparable(report(folder)), comparable(found))
                shutil.rmtree(folder)
                with open(self.path('total_overruns'), 'w', encoding='ascii') as file:
                    file.write('5\n')
                converted = self.path('c.dat')
                self.assertEqual(run('convert', self.folder, converted).returncode, 0)
                self.assertEqual(report(converted)['trace']['lost_events'], 5)
                os.remove(converted)

    def test_all_cpus_in_one_file(self):
        """All CPUs are in one file, as with trace_pipe of ftrace."""
        for abi in (abi for abi in relay_files.ABIS if abi.startswith('v3')):
            with self.subTest(abi=abi):
                made = relay_files.events(1000, cpus=3)
                relay_files.write(self.folder, abi, made, 3)
                path = self.path('pipe')
                with open(path, 'wb') as file:
                    file.write(b''.join(relay_files.record(abi, event) for event in made))
                self.assertEqual(comparable(report(path)), comparable(report(self.folder)))

    def test_abi_given_by_an_option(self):
        made = relay_files.events(100)
        relay_files.write(self.folder, 'v1-be', made)
        found = report(self.folder, '--abi', 'v1-be')
        self.assertEqual(reported(found), totals_of(made))
        self.assertFalse([one for one in found['findings'] if one['kind'] == 'guessed_layout'])


class RealTraces(RelayTest):
    def write(self, trace, abi):
        """Writes the slab events and the symbols of a trace.dat."""
        events = [event for event in trace_text.load(trace) if event.name in ALLOCATIONS + FREES]
        made = []
        for number, event in enumerate(events, 1):
            field = lambda name: int(event.fields.get(name, '0').replace('(nil)', '0'), 0)  # noqa: E731,B023
            made.append(relay_files.Event(event.name in ALLOCATIONS, 'cache' in event.name, event.cpu, event.time,
                                          number, event.site, field('ptr'), field('bytes_req'), field('bytes_alloc'),
                                          field('gfp_flags'), -1))
        cpus = 1 + max(event.cpu for event in events)
        relay_files.write(self.folder, abi, made, cpus)
        with open(self.path('kallsyms'), 'wb') as file:
            file.write(tracedat.read(trace).kallsyms)

    def test_same_report(self):
        for name, abi in (('s390x', 'v0-be'), ('s390x', 'v1-be'), ('s390x', 'v2-be'), ('s390x', 'v3-64-be'),
                          ('i386', 'v3-32-le'), ('i386', 'v2-le'), ('arm64', 'v1-le')):
            with self.subTest(trace=name, abi=abi):
                trace = data(f'{name}/trace.dat')
                self.write(trace, abi)
                timed = not abi.startswith('v2')
                found = report(self.folder)
                self.assertTrue(found['trace']['format'].endswith(f' {abi}'), found['trace']['format'])
                expected = comparable(report(trace), timed)
                self.assertEqual(comparable(found, timed), expected)


if __name__ == '__main__':
    unittest.main()
