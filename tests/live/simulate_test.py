#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks `simulate` on a recording of the running kernel: it must reproduce bytes_alloc, and the slab pages must
match slabinfo. The recorder saves slabinfo at the start and the end."""
import json
import subprocess
import unittest

from recording import PROGRAM, LiveTest, second_try


class Simulate(LiveTest):
    # Upper limit of the error, as a share of all slab pages. The model lacks fallback to other orders in fragmented
    # memory, shrunk caches, and changes between the slabinfo samples and the first or last event.
    MOST_ERROR = 0.05

    @second_try
    def test_as_the_kernel(self):
        self.load(pause=0.005)
        self.record('--duration', '2s', '-e', 'kmem:kmalloc', '-e', 'kmem:kfree', '-e', 'kmem:kmem_cache_alloc', '-e',
                    'kmem:kmem_cache_free')
        model = json.loads(subprocess.check_output([PROGRAM, 'simulate', self.trace, '--suggest', '0', '--json']))['model']
        self.assertEqual(model['least_class_from'], 'slabinfo')
        self.assertGreater(model['kmallocs'], 1000)
        self.assertEqual(model['kmallocs_reproduced'], model['kmallocs'], model['mismatches'][:5])
        slabinfo = model['slabinfo']
        self.assertGreater(slabinfo['geometry_compared'], 50)
        self.assertLess(len(slabinfo['geometry_differs']), 0.05 * slabinfo['geometry_compared'], slabinfo['geometry_differs'])
        self.assertLess(slabinfo['error_pages'], self.MOST_ERROR * slabinfo['pages_after'], slabinfo['changed'][:8])


if __name__ == '__main__':
    unittest.main(verbosity=2)
