#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests ring buffers of another architecture, recorded in a virtual machine using only tracefs. Their pages are put
into a trace.dat here. The results must equal the kernel's own text and the output of trace-cmd.
  tracefs_test.py ARCHITECTURE ORDER WORD_BITS       as s390x big 64"""
import collections
import os
import re
import struct
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', folder) for folder in ('support', 'oracle')]
import kmem_oracle  # noqa: E402
import tracedat  # noqa: E402
from kmemtrace import report  # noqa: E402
from machine import run_script  # noqa: E402

ARCHITECTURE, ORDER, WORD_BITS = sys.argv[1:]
CPUS = 2
PAGE_SIZE = 4096
STATISTICS, UNAME, CPU_COUNT = 2, 5, 8  # option IDs of a trace.dat
EVENT = re.compile(r'\[\d{3}\] \S+ +[\d.]+: (\w+): (.*)')


class Tracefs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        run_script('tracefs.sh', cls.folder, '--arch', ARCHITECTURE)
        cls.trace = cls.path('trace.dat')
        with open(cls.trace, 'wb') as file:
            file.write(cls.trace_dat())
        cls.reported = report(cls.trace)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def read(cls, name):
        with open(cls.path(name), 'rb') as file:
            return file.read()

    @classmethod
    def trace_dat(cls):
        order = '>' if ORDER == 'big' else '<'
        options = [(UNAME, cls.read('machine') + b'\0'), (CPU_COUNT, struct.pack(order + 'I', CPUS))]
        options += [(STATISTICS, f'CPU: {cpu}\n'.encode() + cls.read(f'stats.{cpu}') + b'\0') for cpu in range(CPUS)]
        pages = {cpu: cls.read(f'pages.{cpu}') for cpu in range(CPUS)}
        contents, _ = tracedat.to_v7(tracedat.Trace(
            order=order, long_bytes=int(WORD_BITS) // 8, page_size=PAGE_SIZE, cpus=CPUS, options=options,
            header_page=cls.read('header_page'), header_event=cls.read('header_event'), kallsyms=cls.read('kallsyms'),
            cmdlines=cls.read('saved_cmdlines'), buffers=[tracedat.Buffer('', 'mono', PAGE_SIZE, pages)],
            event_formats={'kmem': [cls.read(f'formats/{name}') for name in sorted(os.listdir(cls.path('formats')))]}))
        return contents

    def test_machine_is_described(self):
        trace = self.reported['trace']
        self.assertEqual((ORDER, int(WORD_BITS), CPUS), (trace['byte_order'], trace['word_bits'], trace['cpus']))
        self.assertEqual((0, True), (trace['lost_events'], trace['loss_known']))

    def test_agrees_with_the_kernels_text(self):
        events = EVENT.findall(self.read('trace.txt').decode())
        self.assertEqual(collections.Counter(name for name, _ in events), collections.Counter(self.reported['events']))
        sums = collections.Counter()
        for name, fields in events:
            for size in re.findall(r'\b(bytes_req|bytes_alloc)=(\d+)', fields):
                sums[size[0]] += int(size[1])
        self.assertGreater(sums['bytes_req'], 0)
        self.assertEqual(sums['bytes_req'], self.reported['slab']['bytes_requested'])
        self.assertEqual(sums['bytes_alloc'], self.reported['slab']['bytes_allocated'])

    def test_agrees_with_trace_cmd(self):
        want = kmem_oracle.Report(kmem_oracle.parse(kmem_oracle.report_text(self.trace)), PAGE_SIZE)
        self.assertGreater(want.slab['matched_frees'], 1000)
        kmem_oracle.allow_own_frees(want, self.reported)
        found = kmem_oracle.differences(want, self.reported)
        self.assertFalse(found, '\n'.join(found[:20]))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
