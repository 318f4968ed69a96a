#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the static recorder on a stock Debian kernel in a virtual machine, whose root has only busybox. The recordings
are read here, by the full program and by trace-cmd.
  recorder_test.py ARCHITECTURE       as arm64; builds build-static-ARCHITECTURE/kmemtrace"""
import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, '..', '..')
sys.path[:0] = [os.path.join(HERE, '..', folder) for folder in ('support', 'oracle')]
import kmem_oracle  # noqa: E402
from kmemtrace import report, run  # noqa: E402
from machine import run_script  # noqa: E402

ARCHITECTURE = sys.argv.pop()
MOST_BYTES = 6 << 20
MOST_MEMORY = 16 << 20


class Recorder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run([f'{ROOT}/packaging/static', ARCHITECTURE], check=True)
        cls.program = f'{ROOT}/build-static-{ARCHITECTURE}/kmemtrace'
        cls.out = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        cpus = '1' if ARCHITECTURE == 'armhf' else '2'  # with two, Debian's armhf kernel hangs in QEMU
        run_script('recorder.sh', cls.out, '--arch', ARCHITECTURE, '--timeout', '1500', '--cpus', cpus,
                   '--file', f'{cls.program}:/bin/recorder')

    def path(self, name):
        return os.path.join(self.out, name)

    def text(self, name):
        with open(self.path(name), encoding='utf-8') as file:
            return file.read()

    def test_needs_no_library(self):
        headers = subprocess.run(['readelf', '--program-headers', '--dynamic', self.program], stdout=subprocess.PIPE,
                                 encoding='utf-8', check=True).stdout
        self.assertNotIn('INTERP', headers)
        self.assertNotIn('NEEDED', headers)
        self.assertLessEqual(os.path.getsize(self.program), MOST_BYTES)

    def test_list_shows_the_kernel(self):
        self.assertIn(f'release    {self.text("release").strip()}', self.text('list.out'))
        self.assertIn('recording  possible', self.text('list.out'))

    def test_check_finds_nothing_lost(self):
        for name in ('trace.kmt', 'trace.dat', 'stacks.kmt', 'both.kmt', 'both.dat'):
            with self.subTest(name):
                [found] = json.loads(self.text(f'check-{name}.out'))['files']
                self.assertEqual(('sound', 0), (found['verdict'], found['trace']['lost_events']))
                [here] = json.loads(run('check', '--json', self.path(name)).stdout)['files']
                self.assertEqual(found['trace']['events'], here['trace']['events'])

    def test_needs_little_memory(self):
        """The ring buffers are memory of the kernel, and not included."""
        kib = int(self.text('memory.status').split()[1])
        self.assertLess(kib << 10, MOST_MEMORY)

    def test_a_kernel_that_compiles_no_programs_is_named(self):
        if not os.path.exists(self.path('jit.code')):
            self.skipTest('this kernel compiles BPF programs by default')
        self.assertEqual('3', self.text('jit.code').strip())
        self.assertIn('sysctl net.core.bpf_jit_enable=1', self.text('jit.err'))

    def test_report_agrees_with_trace_cmd(self):
        want = kmem_oracle.Report(kmem_oracle.parse(kmem_oracle.report_text(self.path('trace.dat'))), 4096)
        self.assertGreater(want.slab['matched_frees'], 1000)
        got = report(self.path('trace.dat'))
        kmem_oracle.allow_own_frees(want, got)
        found = kmem_oracle.differences(want, got)
        self.assertFalse(found, '\n'.join(found[:20]))
        converted = report(self.path('converted.kmt'))
        self.assertEqual((got['events'], got['slab']), (converted['events'], converted['slab']))

    def workload(self, name):
        """Returns how often each event of each task of the workload is in a trace according to trace-cmd. Only tasks of
        the workload are compared, because each recorder omits its own tasks. The order is not compared, because an
        interrupt may come after an event is in one trace and before it is in the other."""
        tasks = collections.defaultdict(collections.Counter)
        for event in kmem_oracle.parse(kmem_oracle.report_text(self.path(name))):
            if event.comm in ('find', 'sort'):
                tasks[event.comm, event.tid][event.name, *sorted(event.fields.items())] += 1
        return tasks

    def test_both_formats_have_the_same_events(self):
        run('convert', self.path('both.kmt'), self.path('read.dat'))
        want, got = self.workload('both.dat'), self.workload('read.dat')
        self.assertGreater(len(want), 30)
        self.assertEqual(want.keys(), got.keys())
        for task, events in want.items():
            self.assertEqual(events, got[task], task)

    def test_repaired_file_can_be_read(self):
        for name in ('repaired.kmt', 'repaired-killed.kmt'):
            with self.subTest(name):
                self.assertGreater(report(self.path(name))['slab']['allocations'], 100)
        whole, repaired = (report(self.path(name))['slab']['allocations'] for name in ('long.kmt', 'repaired.kmt'))
        self.assertLess(repaired, whole)

    def test_a_killed_recorder_leaves_nothing_in_the_kernel(self):
        self.assertEqual('', self.text('left'))

    def test_records_stacks(self):
        self.assertGreater(report(self.path('stacks.kmt'))['trace']['stacks'], 100)

    def test_starts_fast(self):
        first, last = map(float, self.text('starts').split())
        print(f'{ARCHITECTURE}: {os.path.getsize(self.program)} bytes, starts in {(last - first) * 100:.1f} ms in the '
              f'virtual machine, {self.text("memory").strip()}', file=sys.stderr)

    def test_counts_inside_the_kernel(self):
        counted = {event['event']: event for event in json.loads(self.text('stat.out'))['events']}
        slab = [event for name, event in counted.items() if 'kmalloc' in name or 'cache_alloc' in name]
        events = sum(event['events'] for event in slab)
        self.assertAlmostEqual(events, report(self.path('trace.kmt'))['slab']['allocations'], delta=events // 5)
        if not os.path.exists(self.path('bpf.kmt')):
            self.skipTest('the kernel does not describe its types')
        self.assertAlmostEqual(events, report(self.path('bpf.kmt'))['slab']['allocations'], delta=events // 5)
        estimate = json.loads(self.text('profile.out'))['slab']['bytes']
        self.assertGreater(estimate['high'], 0.8 * sum(event['bytes_allocated'] for event in slab))
        self.assertIn('kmemtrace top - ', self.text('top.out'))

    def test_names_the_full_program_for_other_commands(self):
        self.assertEqual('3\n', self.text('report.code'))
        self.assertIn('The recorder has no command "report"', self.text('report.err'))


if __name__ == '__main__':
    unittest.main()
