#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records this machine's kernel. trace-cmd must be able to read the recording, and the report must match trace-cmd's
text."""
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
import kmem_oracle  # noqa: E402
from kmemtrace import report, run  # noqa: E402

SKIPPED = 77  # exit status that ctest treats as skipped
WORKLOAD = os.path.join(HERE, '..', '..', 'tools', 'workload.sh')
EVENTS = ('kmem:kmalloc*', 'kmem:kfree', 'kmem:mm_page_alloc', 'kmem:mm_page_free')  # few events keep the test fast


class Recording(unittest.TestCase):
    def check(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'trace.dat')
            chosen = [part for event in EVENTS for part in ('-e', event)]
            done = run('record', '-o', path, *chosen, *options, '--', WORKLOAD, '1')
            if done.returncode == 3 and not os.environ.get('KMEMTRACE_REQUIRE_LIVE'):
                print(done.stderr)
                sys.exit(SKIPPED)
            self.assertEqual(0, done.returncode, done.stderr)
            want = kmem_oracle.Report(kmem_oracle.parse(kmem_oracle.report_text(path)), os.sysconf('SC_PAGE_SIZE'))
            self.assertGreater(want.slab['matched_frees'], 1000)
            self.assertGreater(want.pages['frees'], 100)
            got = report(path)
            kmem_oracle.allow_own_frees(want, got)
            found = kmem_oracle.differences(want, got)
            self.assertFalse(found, '\n'.join(found[:20]))

    def test_default_options(self):
        self.check()

    def test_version_6(self):
        self.check('--file-version', '6')

    def test_another_clock(self):
        self.check('--clock', 'global')


if __name__ == '__main__':
    unittest.main()
