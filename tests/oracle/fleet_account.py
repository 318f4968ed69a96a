# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads series of made-up machines with different kernels, some of which leak, and checks `fleet account`.
fleet_test.py runs these tests on real servers."""
import os
import subprocess
import sys

from export_traces import place, run
from fleet_side import fleet

GENERATOR = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support', 'week_series.py')
LEAK = 'kmalloc-192'
# Host, kernel, whether it leaks. Sorted as texts, 6.9.1 would be newer than 6.12.0. The host a4 was upgraded.
SERIES = [('a1', '6.6.30', False), ('a2', '6.9.1', False), ('a3', '6.12.0', True), ('a4', '6.12.0', True),
          ('a4', '6.12.7', True), ('a5', '6.12.7', True), ('a6', '6.12.7', False)]


class Account:
    """Needs servers: self.urls and self.servers."""

    def load_accounts(self):
        for host, kernel, leaks in SERIES:
            path = place(f'account-{host}-{kernel}.kmt')
            subprocess.run([sys.executable, '-B', GENERATOR, path, '400', kernel, 'leak' if leaks else 'none'],
                           stdout=subprocess.DEVNULL, check=True)
            done = run('export', path, '--to', 'clickhouse', self.urls[0], '--host', host)
            self.assertIn('account', done.stderr)
            again = run('export', path, '--to', 'clickhouse', self.urls[0], '--host', host)
            self.assertIn('already loaded', again.stderr)

    def test_account(self):
        self.load_accounts()
        answer = fleet(self.urls[0], 'account')
        self.assertEqual(answer['hosts'], len({host for host, _, _ in SERIES}))
        rows = {(row['part'], row['name']): row for row in answer['amounts']}
        row = rows['slab_caches', LEAK]
        self.assertEqual((row['since'], row['before'], row['growing_hosts']), ('6.12.0', '6.9.1', 3))
        self.assertEqual([one['kernel'] for one in row['kernels']], ['6.6.30', '6.9.1', '6.12.0', '6.12.7'])
        self.assertEqual([one['growing_host_names'] for one in row['kernels']], [[], [], ['a3', 'a4'], ['a4', 'a5']])
        self.assertEqual([one['hosts'] for one in row['kernels']], [1, 1, 2, 3])
        self.assertAlmostEqual(row['bytes_per_s'], 100 * 192 / 10, delta=60)  # 100 objects in 10 s
        steady = rows['slab_caches', 'kmalloc-512']
        self.assertEqual((steady['since'], steady['growing_hosts']), (None, 0))
        old = fleet(self.urls[0], 'account', '--kernel', '6.6.*')
        self.assertTrue(all(each['growing_hosts'] == 0 for each in old['amounts']))
