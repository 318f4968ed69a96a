#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the anomalies of a report, with both call sites, with the anomalies that Python computes from trace-cmd's
text. Generated traces are also compared with the planted anomalies."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import groups_oracle  # noqa: E402
from kmemtrace import report, run  # noqa: E402
from samples import PLANTED, REAL, planted, real  # noqa: E402


def reported_by(path, *options):
    """Returns {(kind, first call site, second call site, allocator): (count, first time, last time)}, added up over all
    caches. Also returns the rows of `report`."""
    done = run('report', '--json', *options, path)
    if done.returncode != 0:
        raise AssertionError(f'report {" ".join(options)} {path}: exit {done.returncode}: {done.stderr}')
    rows = json.loads(done.stdout)['anomaly_sites']
    found = {}
    for row in rows:
        first, second = (site and int(site['address'], 16) for site in (row['first'], row['second']))
        key = row['kind'], first or None, second or None, row['allocator']
        count, begin, end = found.get(key, (0, row['first_ns'], row['last_ns']))
        found[key] = count + row['count'], min(begin, row['first_ns']), max(end, row['last_ns'])
    return found, rows


class Case(unittest.TestCase):
    def assert_same(self, want, got):
        found = [f'{key}: {got.get(key)}, expected {want.get(key)}' for key in want.keys() | got.keys()
                 if want.get(key) != got.get(key)]
        if found:
            self.fail(f'{len(found)} differences:\n' + '\n'.join(found[:20]))

    def check(self, sample, *options, selects=lambda subject: True):
        want = groups_oracle.anomaly_sites(a for a in sample.history.anomalies if selects(a.subject))
        got, rows = reported_by(sample.path, *options)
        self.assert_same(want, got)
        return rows


class Sites(Case):
    def test_real_traces(self):
        for name in REAL:
            with self.subTest(name):
                self.check(real(name))
                self.assertEqual(reported_by(real(name).path), reported_by(real(name).kmt))

    def test_planted_mistakes(self):
        for name, make in PLANTED.items():
            with self.subTest(name):
                self.check(make())
                self.assertEqual(reported_by(make().path), reported_by(make().kmt))

    def test_many_events(self):
        self.check(planted('amd64', 10, 50_000))

    def test_threads_do_not_change_the_report(self):
        path = planted('amd64', 10, 50_000).path
        texts = [run('report', '--json', '--threads', count, path).stdout for count in ('1', '2')]
        self.assertEqual(texts[0], texts[1])

    def test_cpu(self):
        """A filter applies to the allocation of an anomaly, or to the free if the anomaly has no allocation."""
        for sample in (real('s390x/trace.lost.dat'), planted('amd64', 1)):
            with self.subTest(sample.path):
                self.check(sample, '--cpu', '1', selects=lambda subject: getattr(subject, 'event', subject).cpu == 1)

    def test_sums(self):
        """The counts of all call sites must add up to the count of each kind."""
        for sample in (real('amd64/trace.dat'), planted('s390x', 2)):
            reported = report(sample.path)
            sums = {}
            for row in reported['anomaly_sites']:
                sums[row['kind']] = sums.get(row['kind'], 0) + row['count']
            for kind, count in reported['anomalies'].items():
                self.assertEqual(count, sums.get(kind), kind)


class Plan(Case):
    """Each planted mistake must be reported with its call sites and its count. These call sites must have no other
    anomalies. Pages are freed at random, and some of them twice."""

    def check_plan(self, found, sample):
        planned = {anomaly[:1] + anomaly[2:4] + anomaly[1:2]: anomaly[4:] for anomaly in sample.plan.anomalies}
        sites = {site for key in planned for site in key[1:3] if site}
        self.assert_same(planned, {key: value for key, value in found.items()
                                   if (sites & set(key[1:3]) or key[1:3] == (None, None)) and
                                   key[0] != 'pages_freed_twice'})

    def test_report_has_the_planted_mistakes(self):
        for name, make in PLANTED.items():
            with self.subTest(name):
                self.check_plan(reported_by(make().path)[0], make())

    def test_oracle_finds_the_planted_mistakes(self):
        for name, make in PLANTED.items():
            with self.subTest(name):
                self.check_plan(groups_oracle.anomaly_sites(make().history.anomalies), make())


if __name__ == '__main__':
    unittest.main()
