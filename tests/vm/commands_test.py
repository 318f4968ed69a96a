#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the program on a stock Debian kernel in a virtual machine. The commands run in the machine; the recordings are
read here, by the same program and by trace-cmd.
  commands_test.py KERNEL"""
import json
import os
import re
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', folder) for folder in ('support', 'oracle')]
import kmem_oracle  # noqa: E402
from kmemtrace import report, run  # noqa: E402
from machine import run_script  # noqa: E402

KERNEL = sys.argv.pop()
TRACES = ('trace.kmt', 'trace.dat')
TRACES_OF_BPF = ('bpf.kmt', 'bpf-stacks.kmt') if KERNEL != '5.10' else ()
PROCESSES = 100  # number of processes of the workload in commands.sh


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        run_script('commands.sh', cls.out, '--kernel', KERNEL, '--file', f'{shutil.which("setpriv")}:/bin/setpriv-of-util-linux',
                   '--file', f'{HERE}/../../packaging/systemd/kmemtrace-serve.service:/unit')

    def text(self, name):
        with open(os.path.join(self.out, name), encoding='utf-8') as file:
            return file.read()

    def frames(self, name):
        """Returns the rows of each frame of `top --batch`."""
        frames = []
        for frame in self.text(name).split('kmemtrace top - ')[1:]:
            head, _, table = frame.partition('\n\n')
            self.assertRegex(head, r'^sh, \d+ ns, counted by BPF programs\nslab +\d+/s, .*\npages +\d+/s, .*\ncost: [\d.]+% of a CPU for kmemtrace, \d+ B of')
            header, *rows = ([cell.lstrip('*') for cell in re.split(' {2,}', line.strip())] for line in table.splitlines()
                             if line)
            frames.append([dict(zip(header, row, strict=True)) for row in rows])
        return frames

    def test_list_shows_the_kernel(self):
        listed = self.text('list.out')
        self.assertIn(f'release    {KERNEL}.', listed)
        self.assertIn('recording  possible', listed)

    def test_snapshot_reads_all_files_and_adds_up(self):
        done = run('snapshot', os.path.join(self.out, 'snapshot.kmt'), '--json')
        self.assertEqual(0, done.returncode, done.stderr)
        for result in (json.loads(self.text('snapshot.out')), json.loads(done.stdout)):
            self.assertTrue(result['release'].startswith(f'{KERNEL}.'))
            self.assertEqual([], result['unknown_lines'])
            lines = {line['id']: line['bytes'] for line in result['balance'] if line['counted'] and line['depth'] == 0}
            self.assertEqual(result['total_bytes'], sum(lines.values()))
            self.assertLess(abs(lines['unaccounted']), result['total_bytes'] / 50)
            for name in ('meminfo', 'vmstat', 'zoneinfo', 'slabinfo', 'vmallocinfo', 'buddyinfo', 'pagetypeinfo', 'dmesg',
                         'slab', 'cgroups'):
                self.assertIn(name, result['sources'])

    def test_snapshot_shows_removed_cgroups(self):
        removed = int(re.search(r'nr_dying_descendants (\d+)', self.text('jobs.stat'))[1])
        rows = {row['below']: row for row in json.loads(self.text('snapshot-dying.out'))['dying_cgroups']}
        if KERNEL in ('7.2', '7.3'):  # the pages of a removed cgroup move to its parent, so the cgroup soon disappears
            self.assertLessEqual(rows['/jobs']['count'] if '/jobs' in rows else 0, removed)
            return
        self.assertEqual((30, 30, 0), (removed, rows['/jobs']['count'], rows['/jobs']['existing']))
        self.assertRegex(self.text('snapshot-dying-text.out'), r'\n */jobs +30 +0 ')
        if KERNEL == '5.10':  # this kernel adds up to 32 pages per CPU to its counters with a delay
            return
        self.assertGreaterEqual(rows['/jobs']['file_bytes'], 30 << 16)
        self.assertLess(rows['/jobs']['file_bytes'], 31 << 16)

    def test_check_finds_nothing_lost(self):
        for name in TRACES:
            with self.subTest(name):
                [found] = json.loads(self.text(f'check-{name}.out'))['files']
                self.assertEqual('sound', found['verdict'])
                self.assertEqual(0, found['trace']['lost_events'])

    def test_bpf_programs_miss_few_events_and_report_them(self):
        """If an event occurs while the BPF program of that event is running, the event is missed and counted."""
        [whole] = json.loads(self.text('check-trace.kmt.out'))['files']
        for name in TRACES_OF_BPF:
            with self.subTest(name):
                [found] = json.loads(self.text(f'check-{name}.out'))['files']
                lost = found['trace']['lost_events']
                self.assertEqual('sound' if lost == 0 else 'unsound', found['verdict'])
                self.assertLess(lost, whole['trace']['events'] // 100)

    @unittest.skipIf(TRACES_OF_BPF, 'this kernel can record by BPF programs')
    def test_reports_that_bpf_recording_is_impossible(self):
        self.assertEqual('3\n', self.text('refused.code'))
        self.assertIn('Recording by BPF programs needs Linux 5.15', self.text('refused.err'))

    def test_reports_are_the_same_on_this_machine(self):
        for name in TRACES + TRACES_OF_BPF:
            with self.subTest(name):
                there, here = json.loads(self.text(f'report-{name}.out')), report(os.path.join(self.out, name))
                self.assertGreaterEqual(there['events']['task_newtask'], PROCESSES)
                there['trace']['path'] = here['trace']['path']
                self.assertEqual(there, here)

    def test_report_agrees_with_trace_cmd(self):
        text = kmem_oracle.report_text(os.path.join(self.out, 'trace.dat'))
        want, got = kmem_oracle.Report(kmem_oracle.parse(text), 4096), json.loads(self.text('report-trace.dat.out'))
        kmem_oracle.allow_own_frees(want, got)
        found = kmem_oracle.differences(want, got)
        self.assertFalse(found, '\n'.join(found[:20]))

    def test_counts_inside_the_kernel(self):
        """The same workload runs several times and is counted in several ways. Other kernel work causes the
        differences."""
        counted = {event['event']: event for event in json.loads(self.text('stat.out'))['events']}
        slab = [counted[f'kmem:{name}'] for name in ('kmalloc', 'kmem_cache_alloc', 'kmalloc_node',
                                                     'kmem_cache_alloc_node') if f'kmem:{name}' in counted]
        events = sum(event['events'] for event in slab)
        size = sum(event['bytes_allocated'] for event in slab)
        self.assertGreater(events, 80 * PROCESSES)
        self.assertGreater(size, 10000 * PROCESSES)
        last = json.loads(self.text('top.out').splitlines()[-1])
        self.assertAlmostEqual(events, sum(row['events'] for row in last['rows']), delta=events // 10)
        self.assertTrue(any('+0x' in row['name'] for row in last['rows']))
        batch = self.frames('top-batch.out')
        self.assertGreater(len(batch), 1)
        self.assertAlmostEqual(events, sum(int(row['Events']) for row in batch[-1]), delta=events // 10)
        self.assertTrue(any('+0x' in row['Call site'] for row in batch[-1]))
        estimate = json.loads(self.text('profile.out'))['slab']['bytes']
        self.assertLess(estimate['low'], size * 1.1)
        self.assertGreater(estimate['high'], size * 0.9)
        self.assertGreater(os.path.getsize(os.path.join(self.out, 'heap.pb.gz')), 1000)


if __name__ == '__main__':
    unittest.main()
