# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares `fleet report`, `diff` and `traces` of hosts with `report` and `diff` of their traces. fleet_test.py runs
these tests on real servers."""
import collections
import json

from export_traces import report, run
from fleet_side import HOSTS, fleet, function_of, groups, local_groups


class Reports:
    """Needs loaded hosts: self.urls."""

    def test_each_host_equals_its_trace(self):
        for host, (path, _) in HOSTS.items():
            for key in ('call-site', 'function', 'cache', 'comm', 'order', 'context'):
                with self.subTest(host=host, key=key):
                    reported = fleet(self.urls[1], 'report', '--by', key, '--host', host)
                    self.assertEqual(local_groups(path, key), groups(reported, key))

    def test_owners_have_the_sums_of_their_call_sites(self):
        keys = 'module', 'subsystem', 'directory'
        for host, (path, _) in HOSTS.items():
            sites = fleet(self.urls[0], 'report', '--host', host, '--by', 'call-site,' + ','.join(keys))
            for key in keys:
                with self.subTest(host=host, key=key):
                    found = groups(fleet(self.urls[1], 'report', '--host', host, '--by', key), key)
                    self.assertEqual(groups(sites, key), found)
                    if host != 'deep':  # with stacks, `report` uses the caller instead of the call site
                        self.assertEqual(groups(report(path, '--by', key), key), found)

    def test_callers_of_pages(self):
        """Callers of pages are known only in traces with stacks."""
        def callers(host):
            return {row['keys']['function'] for row in fleet(self.urls[0], 'report', '--host', host)['groups']['pages']['rows']}
        self.assertEqual({None}, callers('web1'))
        self.assertGreater(len(callers('deep') - {None}), 3)
        self.assertFalse({'__alloc_pages', 'alloc_pages', '__get_free_pages'} & callers('deep'))

    def test_all_hosts_together(self):
        total = collections.defaultdict(collections.Counter)
        hosts = collections.Counter()
        for path, _ in HOSTS.values():
            for (allocator, symbol), sums in local_groups(path, 'call-site').items():
                total[allocator, symbol and function_of(symbol)].update(sums)
            hosts.update({(allocator, symbol and function_of(symbol))
                          for allocator, symbol in local_groups(path, 'call-site')})
        reported = fleet(self.urls[0], 'report')
        self.assertEqual(dict(total), groups(reported, 'function'))
        for allocator, table in reported['groups'].items():
            for row in table['rows']:
                self.assertEqual(hosts[allocator, row['keys']['function']], row['hosts'])

    def test_lifetimes(self):
        for host, (path, _) in HOSTS.items():
            slab = fleet(self.urls[0], 'report', '--by', 'host', '--host', host)['groups']['slab']['rows'][0]
            self.assertEqual(report(path)['slab']['lifetime']['mean_ns'], slab['mean_lifetime_ns'] or 0)

    def test_fleet_diff_equals_diff(self):
        """Compares two hosts with one trace each. Durations may differ slightly from those of local reports, which may
        start with an event that no report counts."""
        done = run('diff', HOSTS['web2'][0], HOSTS['web1'][0], '--json', '--limit', '0', '--per', 'second')
        local = json.loads(done.stdout)
        reported = fleet(self.urls[0], 'diff', '--a', 'host=web2', '--b', 'kernel=*,host=web1')
        for side in 'ab':
            self.assertAlmostEqual(local['basis'][side], reported['basis'][side], delta=local['basis'][side] * 0.01)
        for allocator in ('slab', 'percpu'):
            rows = local['groups'].get(allocator, {'rows': []})['rows']
            want = {row['keys']['call-site']: row for row in rows}
            got = {row['keys']['function'] or '0x0': row for row in reported['groups'].get(allocator, {'rows': []})['rows']}
            want.pop('unknown', None)
            got.pop('0x0', None)
            self.assertEqual(want.keys(), got.keys())
            for name, row in want.items():
                self.assertEqual((row['in_a'], row['in_b']), (got[name]['in_a'], got[name]['in_b']))
                for column in ('hits', 'requested', 'allocated', 'frees', 'live', 'live-bytes', 'pingpong'):
                    for side in 'ab':
                        divided = column not in ('live', 'live-bytes')
                        one, other = row['columns'][column][side], got[name]['columns'][column][side]
                        if one is None:  # the trace has no events of the allocator
                            self.assertIsNone(other)
                            continue
                        counts = [value * (reported_of['basis'][side] if divided else 1)
                                  for value, reported_of in ((one, local), (other, reported))]
                        self.assertAlmostEqual(*counts, delta=1e-6 * max(1, abs(one)), msg=(name, column, side))

    def test_diff_if_one_side_lacks_events(self):
        """If one side has no events of an allocator, no group may count as new: the trace may lack these events."""
        local = json.loads(run('diff', HOSTS['late'][0], HOSTS['web1'][0], '--by', 'comm', '--json', '--limit', '0').stdout)['groups']['pages']
        reported = fleet(self.urls[0], 'diff', '--by', 'comm', '--a', 'host=late', '--b', 'host=web1')['groups']['pages']
        self.assertGreater(local['total'], 0)
        for table in local, reported:
            self.assertEqual((table['total'], 0), (table['unknown'], table['changed']))
            self.assertEqual({None}, {row['columns']['hits']['a'] for row in table['rows']})
            self.assertNotIn(None, {row['columns']['hits']['b'] for row in table['rows']})
        for options, side in (('host=late', 'host=web1'), 'A'), (('host=web1', 'host=late'), 'B'):
            done = run('fleet', 'diff', '--server', self.urls[0], '--a', options[0], '--b', options[1])
            self.assertRegex(done.stdout, rf'Pages\n +{side} has no allocations of this allocator')
            self.assertRegex(done.stdout, 'Slab by function: change')

    def test_kernels(self):
        """Groups by version and function must show on which kernels each function allocates."""
        reported = fleet(self.urls[0], 'leaks', '--by', 'version,function')
        versions = {row['keys']['version'] for row in reported['groups']['slab']['rows']}
        kernels = {'.'.join((report(path)['trace']['kernel'] or '').split('.')[:2]) or None for path, _ in HOSTS.values()}
        self.assertEqual(kernels, versions)

    def test_filters(self):
        def hosts(*options):
            return {row['host'] for row in fleet(self.urls[0], 'traces', *options)['traces']}
        self.assertEqual(set(HOSTS), hosts())
        self.assertEqual({'web1', 'web2'}, hosts('--host', 'web?'))
        self.assertEqual({'web1', 'old'}, hosts('--host', 'web1', '--host', 'ol*'))
        self.assertEqual({'web2'}, hosts('--kernel', '5.10*', '--host', 'web*'))
        self.assertEqual({'web1', 'web2', 'arm', 'late'}, hosts('--until', '2026-11-21'))
        self.assertEqual({'old'}, hosts('--since', '2026-11-21', '--until', '2026-11-21T12:00'))
        # A report covers the events of the selected time, so a trace that passes midnight is cut there.
        days = [fleet(self.urls[0], 'report', '--host', 'late', '--by', 'host', *when)['groups']['slab']['rows'][0]
                for when in (('--until', '2026-11-21'), ('--since', '2026-11-21'), ())]
        for measure in ('allocations', 'bytes_allocated', 'matched_frees'):
            self.assertEqual(days[2][measure], days[0][measure] + days[1][measure])
        self.assertGreater(days[1]['allocations'], 0)
        of = [fleet(self.urls[0], 'report', '--host', 'late', *when)['of']
              for when in (('--until', '2026-11-21'), ('--since', '2026-11-21'), ())]
        self.assertEqual(5 * 10**9, of[0]['recorded_ns'])
        self.assertEqual(of[2]['recorded_ns'], of[0]['recorded_ns'] + of[1]['recorded_ns'])
        self.assertEqual(1, len({one['events'] for one in of}))
        done = run('fleet', 'report', '--server', self.urls[0], '--host', 'late', '--until', '2026-11-21')
        self.assertRegex(done.stdout, r'1 trace of 1 host, 5\.000 s recorded in all')
        self.assertRegex(done.stdout, 'events .* in these traces \(whole traces, not only the selected time\)')
        # Live memory at the end of a period was allocated in the period or before.
        for measure in ('live_allocations', 'live_bytes'):
            self.assertEqual(days[2][measure], days[1][measure])
            self.assertNotEqual(days[2][measure], days[0][measure])

    def test_sides_are_parts_of_the_selection(self):
        """The sides are selected from the hosts that the other options select, so both conditions must be true."""
        def hosts(*options):
            reported = fleet(self.urls[0], 'diff', '--by', 'host', *options)
            return [{row['keys']['host'] for row in reported['groups']['slab']['rows'] if row[side]} for side in ('in_a', 'in_b')]
        self.assertEqual([{'web1'}, {'web2'}], hosts('--host', 'web*', '--a', 'host=web1', '--b', 'kernel=5.10*'))
        self.assertEqual([{'web1', 'old'}, {'old'}], hosts('--a', 'host=web1,host=old', '--b', 'host=old'))
        self.assertEqual([{'old', 'big'}, {'big'}],
                         hosts('--since', '2026-11-21', '--a', 'since=2026-11-20,until=2026-11-22', '--b', 'host=big'))
        why = fleet(self.urls[0], 'diff', '--host', 'web1', '--a', 'host=web2', '--b', 'host=web1', exit_code=2)
        self.assertIn('has no such trace: host web1, host web2', why.replace('\n', ' '))

    def test_hostile_filters(self):
        """The value of a filter must be treated as text, not as SQL."""
        for text in ("'", '"', '\\', "\\'", "x' OR '1'='1", "%", "_", "') OR 1=1 --", '`', 'a;DROP TABLE x', '\n', '*%*'):
            with self.subTest(text):
                self.assertIn('has no such trace', fleet(self.urls[0], 'report', '--host', text, exit_code=2))
                self.assertIn('has no such trace', fleet(self.urls[0], 'report', '--kernel', text, exit_code=2))

    def test_readonly_user(self):
        """A user with read access must be able to run every query."""
        url = self.urls[0].replace('http://', 'http://reader@')
        for question in (('report',), ('leaks',), ('traces',), ('diff', '--a', 'host=web1', '--b', 'host=web2')):
            self.assertEqual(fleet(self.urls[0], *question)['of' if question[0] != 'diff' else 'a'],
                             fleet(url, *question)['of' if question[0] != 'diff' else 'a'])
