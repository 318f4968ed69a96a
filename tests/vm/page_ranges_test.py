#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records the allocation of a page range by a probe, in a virtual machine. A huge page of 1 GiB has a known size, and
the kernel reports its free.
  page_ranges_test.py KERNEL [KERNEL ARGUMENT]           as 7.3 hugetlb_cma=1G"""
import csv
import io
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', 'support')]
from kmemtrace import report, run  # noqa: E402
from machine import run_script  # noqa: E402

KERNEL, APPEND = (sys.argv[1:] + [''])[:2]
ORDER = 18  # 1 GiB in pages of 4 KiB


def frames(event):
    first = int(event['address'], 0)
    return range(first, first + 2 ** int(event['order']))


class PageRanges(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        run_script('page_ranges.sh', cls.out, '--kernel', KERNEL, '--memory', '8192', '--append', APPEND)
        with open(os.path.join(cls.out, 'allocated'), encoding='ascii') as file:
            if file.read() != '1\n':
                raise unittest.SkipTest('the kernel found no free range of 1 GiB')
        export = run('export', '--to', 'csv', '-o', '-', os.path.join(cls.out, 'ranges.kmt')).stdout
        events = [event for event in csv.DictReader(io.StringIO(export)) if event['address']]
        ranges = [at for at, event in enumerate(events)
                  if event['event'] == 'alloc_page_range' and event['order'] == str(ORDER)]
        cls.ranges = [events[at] for at in ranges]
        cls.freed = [event for event in events[ranges[0]:] if event['event'] == 'mm_page_free'] if ranges else []

    def test_the_huge_page_is_an_allocation(self):
        [huge] = self.ranges
        self.assertEqual('allocation', huge['outcome'])
        self.assertEqual(str(1 << 30), huge['bytes_allocated'])
        self.assertIn('nr_hugepages_store', huge['stack'])
        self.assertEqual(APPEND != '', 'cma_alloc' in huge['stack'], huge['stack'])

    def test_the_kernel_frees_the_same_pages(self):
        """Compares the range with mm_page_free, an event of the kernel."""
        taken = set(frames(self.ranges[0]))
        freed = set().union(*(taken.intersection(frames(event)) for event in self.freed))
        self.assertEqual(taken, freed)

    def test_without_the_probe_the_range_is_missing(self):
        events = report(os.path.join(self.out, 'none.kmt'))['events']
        self.assertGreater(events['mm_page_free'], 0)
        self.assertNotIn('alloc_page_range', events)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
