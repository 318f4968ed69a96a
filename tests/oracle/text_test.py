#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests text traces. The text that trace-cmd prints of a trace, raw or not, must give the same totals as the trace.
Each form of text must be detected correctly."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import text_traces  # noqa: E402
from kmemtrace import data, report, run  # noqa: E402

TRACES = ('amd64/trace.dat', 'amd64-5.10/trace.dat', 'arm64/trace.dat', 'i386/trace.dat', 's390x/trace.dat',
          's390x/trace.stack.dat')


def printed(trace, *options):
    return subprocess.run(['trace-cmd', 'report', '-t', *options, trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True).stdout


def site_rows(found):
    """Returns the rows by symbol, without addresses. For text traces, the reader invents addresses."""
    return {row['symbol']: {key: value for key, value in row.items() if key != 'address'} for row in found['call_sites']}


class TextTest(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def put(self, name, contents):
        path = os.path.join(self.folder, name)
        with open(path, 'wb') as file:
            file.write(contents if isinstance(contents, bytes) else contents.encode())
        return path


class Printed(TextTest):
    def assert_same(self, found, expected):
        self.assertEqual(found['slab'], expected['slab'])
        self.assertEqual(found['pages'], expected['pages'])
        self.assertEqual(found['page_orders'], expected['page_orders'])
        self.assertEqual(found['vmalloc'], expected['vmalloc'])
        self.assertEqual(found['trace']['events'], expected['trace']['events'])
        self.assertEqual(site_rows(found), site_rows(expected))

    def test_same_totals(self):
        for trace in TRACES:
            expected = report(data(trace))
            for options in ((), ('-R',), ('-l',), ('--ts-diff',)):
                with self.subTest(trace=trace, options=options):
                    path = self.put('text', printed(data(trace), *options))
                    self.assert_same(report(path), expected)

    def test_converted_text(self):
        path = self.put('text', printed(data('s390x/trace.dat'), '-R'))
        kmt = os.path.join(self.folder, 'x.kmt')
        self.assertEqual(run('convert', path, kmt).returncode, 0)
        self.assert_same(report(kmt), report(path))
        self.assertEqual(*(report(one, '--by', 'comm')['groups']['slab']['rows'] for one in (kmt, path)))

    def test_converted_to_ctf(self):
        path = self.put('text', printed(data('s390x/trace.dat'), '-R'))
        folder = os.path.join(self.folder, 'x.ctf')
        self.assertEqual(run('convert', path, folder).returncode, 0)
        self.assert_same(report(folder), report(path))

    def test_names_of_flags_caches_and_tasks(self):
        expected = report(data('amd64/trace.dat'), '--by', 'cache,gfp,comm')
        found = report(self.put('text', printed(data('amd64/trace.dat'))), '--by', 'cache,gfp,comm')
        self.assertEqual(self.without_bits(found['groups']), self.without_bits(expected['groups']))

    @staticmethod
    def without_bits(groups):
        """Returns the names of flags in alphabetical order. For text traces, the reader invents the bits of flags, and
        thus their order."""
        def set_of(flags):
            return sorted((flags or 'none').split('|'))

        def plain(value):
            if isinstance(value, list):
                return sorted((plain(one) for one in value), key=json.dumps)
            if isinstance(value, dict):
                return set_of(value['text']) if 'text' in value else {key: plain(one) for key, one in value.items()}
            return value
        return plain(groups)


class Forms(TextTest):
    EVENTS = [('kmalloc', 0, 100, 128), ('kmem_cache_alloc', 1, 8, 8)]

    def report(self, name):
        return report(self.put(name, text_traces.SAMPLES[name]))

    def test_each_form(self):
        for name in text_traces.SAMPLES:
            with self.subTest(form=name):
                found = self.report(name)
                slab = found['slab']
                self.assertEqual([slab[key] for key in ('allocations', 'frees', 'bytes_requested', 'bytes_allocated',
                                                        'bytes_freed', 'live_bytes', 'matched_frees')],
                                 [2, 1, 108, 136, 128, 8, 1])
                self.assertEqual(found['trace']['events'], 3)
                if name != 'kmemtrace-minimal':
                    self.assertEqual(slab['cross_cpu_frees'], 1)
                    self.assertEqual(found['trace']['first_ns'], 123456001000)
                    self.assertEqual(found['trace']['duration_ns'], 8000)

    def test_call_sites(self):
        symbols = {name: {row['symbol'] for row in self.report(name)['call_sites']} for name in text_traces.SAMPLES}
        named = {'load_elf_phdrs+0x49', 'ext4_alloc+0x1c [ext4]', 'rcu_core+0x1f'}
        for name in ('trace', 'trace_pipe'):
            self.assertLessEqual(symbols[name], named)
            self.assertIn('load_elf_phdrs+0x49', symbols[name])
        addresses = {row['address'] for row in self.report('trace-old')['call_sites']}
        self.assertIn('0xffffffff8110a5b2', addresses)
        addresses = {row['address'] for row in self.report('kmemtrace')['call_sites']}
        self.assertIn(hex(18446744071580534194), addresses)

    def test_contexts_and_tasks(self):
        for name in ('trace', 'trace_pipe'):
            path = self.put(name, text_traces.SAMPLES[name])
            self.assertEqual(report(path, '--context', 'hardirq')['slab']['allocations'], 1)
            self.assertEqual(report(path, '--context', 'task')['slab']['bytes_requested'], 100)
        for name in ('trace', 'trace_pipe', 'trace-old', 'perf-script', 'kmemtrace'):
            path = self.put(name, text_traces.SAMPLES[name])
            self.assertEqual(report(path, '--comm', 'bash', '--pid', '812')['slab']['bytes_requested'], 100, name)

    def test_losses(self):
        self.assertEqual(self.report('trace')['trace']['lost_events'], 7)
        self.assertEqual(self.report('trace_pipe')['trace']['lost_per_cpu'], [0, 12])

    def test_losses_without_a_cpu_are_converted(self):
        path = self.put('text', text_traces.SAMPLES['trace'])
        for name in ('x.kmt', 'x.dat', 'x.ctf'):
            target = os.path.join(self.folder, name)
            self.assertEqual(run('convert', path, target).returncode, 0)
            self.assertEqual(report(target)['trace']['lost_events'], 7, name)
        target = os.path.join(self.folder, 'again.dat')
        self.assertEqual(run('convert', '--file-version', '6', os.path.join(self.folder, 'x.kmt'), target).returncode, 0)
        self.assertEqual(report(target)['trace']['lost_events'], 7)

    def test_hashed_pointers_are_reported(self):
        for name in text_traces.SAMPLES:
            kinds = [finding['kind'] for finding in self.report(name)['findings']]
            self.assertEqual('hashed_pointers' in kinds, name == 'trace', name)

    def test_truncated_lines(self):
        text = re.sub(r' ptr=ffff888001234500 bytes_req.*', '', text_traces.SAMPLES['trace_pipe'])
        found = report(self.put('cut', text))
        self.assertIn('unreadable_line', [finding['kind'] for finding in found['findings']])
        self.assertEqual(found['slab']['allocations'], 1)

    def test_other_text_is_refused(self):
        for text in ('hello\n' * 100, '[    0.000000] Linux version 6.1\n', '{"a": [1, 2]}\n'):
            self.assertEqual(run('report', self.put('x', text)).returncode, 2)


if __name__ == '__main__':
    unittest.main()
