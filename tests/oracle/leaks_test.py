#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the results of `leaks` for planted leaks, a cache that fills, and objects that are uncertain because of
lost events."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from kmemtrace import run  # noqa: E402
from samples import PLANTED, planted  # noqa: E402

AFTER_LOSS = '--time', '25.1,'  # later objects are not affected by the lost events


def leaks(path, *options):
    """Returns the exit code, the result, and the rows of slab objects by call site."""
    done = run('leaks', '--json', '--by', 'call-site', '--limit', '0', *options, path)
    result = json.loads(done.stdout)
    return done.returncode, result, {int(row['keys']['call-site']['address'], 16): row
                                     for row in result['groups']['slab']['rows']}


class Planted(unittest.TestCase):
    def test_live_and_uncertain(self):
        """The numbers of live objects must be those of the plan. Objects freed while events were lost must be
        uncertain."""
        for name, make in PLANTED.items():
            plan = make().plan
            _, result, rows = leaks(make().path)
            for what, site in plan.sites.items():
                with self.subTest(name, site=what):
                    row = rows.get(site.site)
                    self.assertEqual(site.live, row['live_allocations'] if row else 0)
                    if what == 'freed in a loss':
                        self.assertEqual(0, row['certain_bytes'])
                        self.assertEqual({'lost-stretch'}, {doubt['reason'] for doubt in row['uncertain']} - {'tracing'})
            self.assertTrue(25 * 10**9 <= result['lost_until_ns'] <= 25 * 10**9 + 10**6, result['lost_until_ns'])

    def test_the_leak_is_found_after_the_loss(self):
        sample = planted('amd64', 1)
        code, result, rows = leaks(sample.path, *AFTER_LOSS)
        site = sample.plan.sites['linear leak']
        row = rows[site.site]
        self.assertEqual((1, True, 'certain'), (code, result['found'], row['verdict']))
        self.assertEqual(result['groups']['slab']['rows'][0], row)  # sorted by growth
        rate = site.live_bytes / 10
        self.assertTrue(0.7 * rate < row['growth']['bytes_per_s'] < 1.3 * rate, row['growth'])
        self.assertTrue(row['growth']['low'] <= row['growth']['bytes_per_s'] <= row['growth']['high'])
        self.assertEqual(['certain'], [other['verdict'] for other in rows.values() if other['verdict'] == 'certain'])

    def test_the_threshold_decides(self):
        code, result, _ = leaks(planted('amd64', 1).path, *AFTER_LOSS, '--threshold', '1M/s')
        self.assertEqual((0, False), (code, result['found']))

    def test_a_loss_in_the_middle_makes_all_uncertain(self):
        sample = planted('amd64', 1)
        code, result, rows = leaks(sample.path)
        row = rows[sample.plan.sites['linear leak'].site]
        self.assertEqual((4, 'missing-events', 'uncertain'), (code, result['unclear'], row['verdict']))
        self.assertTrue(0 < row['certain_bytes'] < row['live_bytes'])

    def test_a_cache_that_fills_does_not_grow(self):
        sample = planted('amd64', 1)
        _, _, rows = leaks(sample.path)
        row = rows[sample.plan.sites['saturating'].site]
        self.assertIn(row['verdict'], ('past', 'no-growth'))
        self.assertTrue(row['growth']['late_bytes_per_s'] < 1000, row['growth'])

    def test_threads_do_not_change_the_leaks(self):
        path = planted('amd64', 10, 150_000).path
        texts = [run('leaks', '--json', '--threads', count, path).stdout for count in ('1', '3')]
        self.assertEqual(texts[0], texts[1])


if __name__ == '__main__':
    unittest.main()
