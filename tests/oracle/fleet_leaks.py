# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares `fleet leaks` of hosts with `leaks` of their traces, and slopes with integrals. fleet_test.py runs these
tests on real servers."""
import collections
import json
import statistics

from export_traces import data, export, place, run
from fleet_side import HOSTS, doubted, fleet, function_of, load, write_kept_trace, write_long_trace

# The reasons that `leaks` gives for the growth of reclaimable pages, and their migrate types. The slab pages of tracing
# tools have the reason "tracing".
REASONS_OF_PAGES = (('reclaimable', ('Movable', 'Reclaimable')), ('slab-pages', ('Reclaimable',)),
                    ('tracing', ('Reclaimable',)))


class Leaks:
    """Needs loaded hosts: self.urls and self.servers."""

    def test_live_memory_equals_that_of_leaks(self):
        for host, (path, _) in HOSTS.items():
            done = run('leaks', path, '--by', 'call-site', '--json', '--limit', '0', seconds=300)
            want = {row['keys']['call-site']['symbol']: (row['live_allocations'], row['live_bytes'])
                    for row in json.loads(done.stdout)['groups'].get('slab', {'rows': []})['rows'] if row['live_allocations']}
            rows = fleet(self.urls[0], 'leaks', '--by', 'call-site', '--host', host)['groups'].get('slab', {'rows': []})['rows']
            self.assertEqual(want, {row['keys']['call-site']: (row['live_allocations'], row['live_bytes'])
                                    for row in rows if row['live_allocations']})

    def slope(self, path):
        """Returns {function: slope of the least-squares line through its live bytes of slab objects}, computed by
        integration."""
        lines = [json.loads(line) for line in export(path, 'jsonl').splitlines()]
        first = lines[0]['time_ns']
        seconds = fleet(self.urls[0], 'traces', '--host', 'late')['traces'][0]['recorded_ns'] / 1e9
        changes = collections.defaultdict(list)
        began = {}
        for line in lines:
            at = (line['time_ns'] - first) / 1e9
            if line.get('allocator') != 'slab':
                continue
            if line['outcome'].startswith('allocation'):
                began[line['allocation']] = function_of(line['symbol']), line['bytes_allocated']
                changes[function_of(line['symbol'])].append((at, line['bytes_allocated']))
            elif line['outcome'] == 'free':
                function, given = began[line['allocation']]
                changes[function].append((at, -given))
        slopes = {}
        for function, steps in changes.items():
            integral = level = 0
            for (at, change), (until, _) in zip(steps, steps[1:] + [(seconds, 0)]):
                level += change
                integral += level * ((until - seconds / 2) ** 2 - (at - seconds / 2) ** 2) / 2
            slopes[function] = 12 / seconds ** 3 * integral if level else 0  # growth is 0 if nothing is live at the end
        return slopes

    def test_growth(self):
        rows = fleet(self.urls[0], 'leaks', '--host', 'late')['groups']['slab']['rows']
        got = {row['keys']['function']: row['growth_bytes_per_s'] for row in rows}
        want = self.slope(HOSTS['late'][0])
        self.assertEqual(want.keys(), got.keys())
        self.assertIn(0, want.values())
        for function, slope in want.items():
            self.assertAlmostEqual(slope, got[function], delta=max(abs(slope) * 1e-6, 1e-3), msg=function)

    def test_traces_that_may_lack_frees(self):
        """The trace has no frees. As in `leaks`, all live memory must count as uncertain."""
        path = place('no_frees.txt')
        with open(HOSTS['late'][0], encoding='ascii') as whole, open(path, 'w', encoding='ascii') as file:
            file.writelines(line for line in whole if ' kfree: ' not in line)
        url = self.urls[0].replace('/fleet_test', '/no_frees')
        load(url, path, 'silent', '2026-11-23T10:00:00Z')
        load(url, HOSTS['rcl'][0], 'sound', HOSTS['rcl'][1])
        local = json.loads(run('leaks', path, '--by', 'function', '--json', '--limit', '0').stdout)['groups']['slab']['rows']
        self.assertEqual({0}, {row['certain_bytes'] for row in local})
        reported = fleet(url, 'leaks', '--by', 'host')
        self.assertEqual(1, reported['of']['may_lack_frees'])
        rows = {row['keys']['host']: row for row in reported['groups']['slab']['rows']}
        self.assertEqual((0, rows['silent']['live_bytes'], 0), tuple(
            rows['silent'][key] for key in ('sure_growth_bytes_per_s', 'unseen_bytes', 'growing_traces')))
        self.assertGreater(rows['silent']['growth_bytes_per_s'], 0)
        self.assertGreater(rows['sound']['sure_growth_bytes_per_s'], 0)
        self.assertRegex(run('fleet', 'leaks', '--server', url).stdout, 'doubtful +1 trace may lack frees')

    def test_an_allocator_without_frees(self):
        """If the frees of pages are not recorded, growth of pages is uncertain, but growth of slab objects is not,
        and vice versa."""
        url, sides = f'{self.servers.all[0].url}/fleet_lacking', {'slab': 'kfree', 'pages': 'mm_page_free'}
        for host, lacking in sides.items():
            load(url, write_kept_trace(place(f'lacks_{host}.dat'), lacking=(lacking,)), host, '2026-11-20', level='aggregates')
        for host in sides:
            reported = fleet(url, 'leaks', '--host', host)
            self.assertEqual(1, reported['of']['may_lack_frees'])
            for allocator in sides:
                row, = reported['groups'][allocator]['rows']
                self.assertEqual(host != allocator, row['sure_growth_bytes_per_s'] > 0, (host, allocator))
                self.assertEqual(row['live_bytes'] if host == allocator else 0, row['unseen_bytes'])

    def test_by_day(self):
        """A trace that passes midnight belongs to the day on which it started."""
        for what in 'leaks', 'report':
            whole, = fleet(self.urls[0], what, '--host', 'late', '--by', 'host')['groups']['slab']['rows']
            of_day, = fleet(self.urls[0], what, '--host', 'late', '--by', 'day')['groups']['slab']['rows']
            self.assertEqual({'day': '2026-11-20'}, of_day['keys'])
            for name, value in whole.items():
                if isinstance(value, float):  # floating-point sums depend on the order of the values
                    self.assertAlmostEqual(value, of_day[name], delta=abs(value) * 1e-9, msg=name)
                elif name not in ('keys', 'name'):
                    self.assertEqual(value, of_day[name], name)

    def test_untraced_paths(self):
        """skb heads may be freed in bulk without an event, so their growth is uncertain. `leaks` must report the same
        for this trace."""
        url, path = f'{self.servers.all[0].url}/fleet_untraced', place('untraced.dat')
        write_kept_trace(path, function='__alloc_skb', allocation='kmem_cache_alloc', free='kmem_cache_free')
        load(url, path, 'a', '2026-11-20', level='aggregates')
        row, = fleet(url, 'leaks', '--by', 'function')['groups']['slab']['rows']
        self.assertEqual({'__alloc_skb': row['live_bytes']}, doubted(path, 'function', 'untraced-path'))
        self.assertEqual((row['live_bytes'], 0, 0), (row['unseen_bytes'], row['sure_growth_bytes_per_s'], row['growing_hosts']))

    def test_growth_of_short_traces(self):
        """Growth is not judged in traces shorter than a second. These traces do not count for the mean either."""
        self.assertLess(fleet(self.urls[0], 'traces', '--host', 'web1')['traces'][0]['recorded_ns'], 1e9)
        short = fleet(self.urls[0], 'leaks', '--host', 'web1')['groups']['slab']['rows']
        self.assertEqual({(None, None, 0)}, {(row['growth_bytes_per_s'], row['deviation_bytes_per_s'], row['growing_traces'])
                                             for row in short})
        alone = fleet(self.urls[0], 'leaks', '--host', 'late')['groups']['slab']['rows']
        growth = {row['keys']['function']: row['growth_bytes_per_s'] for row in alone}
        for row in fleet(self.urls[0], 'leaks', '--host', 'late', '--host', 'web1')['groups']['slab']['rows']:
            if row['keys']['function'] in growth:
                self.assertAlmostEqual(growth[row['keys']['function']], row['growth_bytes_per_s'], places=6)
            else:
                self.assertIsNone(row['growth_bytes_per_s'])

    def test_mean_by_length(self):
        """The slope of a longer trace has more weight in the mean."""
        url = f'{self.servers.all[0].url}/fleet_mean'
        for host, pairs, length in (('short', 500, 2), ('long', 700, 10)):
            load(url, write_long_trace(place(f'{host}.txt'), pairs, length), host, '2026-11-20', level='aggregates')
        seconds = {trace['host']: trace['recorded_ns'] / 1e9 for trace in fleet(url, 'traces')['traces']}
        self.assertLess(1, seconds['short'])
        self.assertLess(2 * seconds['short'], seconds['long'])
        of_host = {host: fleet(url, 'leaks', '--host', host, '--by', 'comm')['groups']['slab']['rows'][0] for host in seconds}
        both = fleet(url, 'leaks', '--by', 'comm')['groups']['slab']['rows'][0]
        growth = {host: row['growth_bytes_per_s'] for host, row in of_host.items()}
        self.assertNotEqual(growth['short'], growth['long'])
        mean = sum(growth[host] * seconds[host] for host in seconds) / sum(seconds.values())
        self.assertAlmostEqual(mean, both['growth_bytes_per_s'], delta=abs(mean) * 1e-9)
        self.assertEqual(2, both['traces'])
        want = statistics.stdev(growth.values())
        self.assertAlmostEqual(want, both['deviation_bytes_per_s'], delta=want * 1e-9)

    def test_deviation_of_similar_slopes(self):
        url = f'{self.servers.all[0].url}/fleet_alike'
        for host in 'a', 'b', 'c':
            load(url, HOSTS['rcl'][0], host, '2026-11-20', level='aggregates')
        row, = fleet(url, 'leaks', '--by', 'comm')['groups']['slab']['rows']
        self.assertGreater(row['growth_bytes_per_s'], 0)
        self.assertEqual(3, row['traces'])
        self.assertAlmostEqual(0, row['deviation_bytes_per_s'], places=9)

    def test_reclaimable(self):
        """All live memory of reclaimable caches must count as reclaimable, and no memory of other caches."""
        rows = fleet(self.urls[0], 'leaks', '--host', 'web1', '--by', 'cache')['groups']['slab']['rows']
        live = {row['keys']['cache']: (row['reclaimable_bytes'], row['live_bytes']) for row in rows}
        for cache in 'dentry', 'inode_cache', 'lsm_inode_cache':
            self.assertGreater(live[cache][1], 0)
            self.assertEqual(*live[cache])
        for cache in 'task_struct', 'kmalloc-4k', 'names_cache':
            self.assertEqual(0, live[cache][0])
        rcl = fleet(self.urls[0], 'leaks', '--host', 'rcl', '--by', 'cache')['groups']['slab']['rows']
        rcl = {row['keys']['cache']: (row['reclaimable_bytes'], row['live_bytes']) for row in rcl}
        self.assertEqual({'kmalloc-rcl-64': (32_000, 32_000), 'kmalloc-64': (0, 499 * 64)}, rcl)
        for host, reported in (('web1', live), ('rcl', rcl)):
            with self.subTest(host):
                self.assertEqual(doubted(HOSTS[host][0], 'cache', 'reclaimable'),
                                 {cache: bytes for cache, (bytes, _) in reported.items() if bytes})

    def test_reclaimable_pages(self):
        """Growth of user pages and of the page cache is uncertain, growth of other pages is not. The results must
        equal those of `leaks`, for real traces and a generated trace. `leaks` calls pages of the type Reclaimable slab
        pages. It also finds page cache of other types, by stacks, which the fleet does not have."""
        for host in 'web1', 'arm', 'big', 'deep':
            reported = fleet(self.urls[0], 'leaks', '--host', host, '--by', 'migrate-type')['groups']['pages']['rows']
            with self.subTest(host):
                doubts = collections.Counter()
                for reason, kinds in REASONS_OF_PAGES:
                    of_reason = doubted(HOSTS[host][0], 'migrate-type', reason, 'pages')
                    doubts.update({kind: of_reason[kind] for kind in kinds if kind in of_reason})
                self.assertEqual(dict(doubts),
                                 {row['keys']['migrate-type']: row['reclaimable_bytes'] for row in reported if row['reclaimable_bytes']})
                self.assertLess(0, sum(row['live_bytes'] - row['reclaimable_bytes'] for row in reported))
        url = f'{self.servers.all[0].url}/fleet_pages'
        load(url, write_kept_trace(place('pages.dat'), (0, 1, 1)), 'a', '2026-11-20', level='aggregates')
        row, = fleet(url, 'leaks', '--by', 'comm')['groups']['pages']['rows']
        self.assertAlmostEqual(409600, row['growth_bytes_per_s'], delta=10_000)
        self.assertAlmostEqual(409600 / 3, row['sure_growth_bytes_per_s'], delta=5_000)
        self.assertEqual((1, 1, 200 * 4096), (row['growing_hosts'], row['growing_traces'], row['reclaimable_bytes']))
        rows = fleet(url, 'leaks', '--by', 'migrate-type')['groups']['pages']['rows']
        self.assertEqual([('Unmovable', 1, True), ('Movable', 0, False)],
                         [(row['keys']['migrate-type'], row['growing_hosts'], row['sure_growth_bytes_per_s'] > 0) for row in rows])

    def test_slab_pages(self):
        """Pages of slabs grow, but `leaks` counts their growth with the objects on them, so it is not certain growth
        of pages."""
        url, path = f'{self.servers.all[0].url}/fleet_slab_pages', data('../../docs/tutorial/leak.kmt')
        load(url, path, 'a', '2026-11-20', level='aggregates')
        of_slabs = doubted(path, 'function', 'slab-pages', 'pages')
        groups = fleet(url, 'leaks', '--by', 'function')['groups']
        rows = {row['keys']['function']: row for row in groups['pages']['rows']}
        only_slabs = [name for name, bytes in of_slabs.items() if name in rows and bytes == rows[name]['live_bytes']]
        self.assertIn('alloc_pipe_info', only_slabs)
        for name in only_slabs:
            self.assertEqual((0, 0), (rows[name]['sure_growth_bytes_per_s'], rows[name]['growing_traces']), name)
        self.assertGreater(rows['alloc_pipe_info']['growth_bytes_per_s'], 0)
        self.assertGreater(max(row['sure_growth_bytes_per_s'] for row in groups['slab']['rows']), 0)
        # Sums of slab pages and of other pages must both be in the total.
        done = run('leaks', path, '--by', 'order', '--json', '--limit', '0')
        local = sum(row['live_bytes'] for row in json.loads(done.stdout)['groups']['pages']['rows'])
        self.assertEqual(local, sum(row['live_bytes'] for row in rows.values()))

    def test_untraced_frees(self):
        """As in `leaks`, live memory at call sites with untraced frees is uncertain. The certain growth must not
        include the growth of this memory."""
        rows = fleet(self.urls[0], 'leaks', '--by', 'call-site', '--host', 'reused')['groups']['slab']['rows']
        self.assertEqual(doubted(HOSTS['reused'][0], 'call-site', 'reallocated'),
                         {row['keys']['call-site']: row['unseen_bytes'] for row in rows if row['unseen_bytes']})
        for host in HOSTS:
            pages = fleet(self.urls[0], 'leaks', '--by', 'order', '--host', host)['groups'].get('pages', {'rows': []})['rows']
            self.assertEqual(doubted(HOSTS[host][0], 'order', 'reallocated', 'pages'),
                             {row['keys']['order']: row['unseen_bytes'] for row in pages if row['unseen_bytes']}, host)
        reported = {row['keys']['call-site']: row for row in rows}
        ghost, kept = reported['ghost+0x1'], reported['kept+0x1']
        self.assertEqual((ghost['live_bytes'], 0, 0), (ghost['unseen_bytes'], ghost['sure_growth_bytes_per_s'], ghost['growing_hosts']))
        self.assertEqual((kept['growth_bytes_per_s'], 0, 1),
                         (kept['sure_growth_bytes_per_s'], kept['unseen_bytes'], kept['growing_hosts']))
        self.assertGreater(ghost['growth_bytes_per_s'], kept['growth_bytes_per_s'])
        self.assertEqual('kept+0x1', rows[0]['keys']['call-site'])
        by_comm = fleet(self.urls[0], 'leaks', '--by', 'comm', '--host', 'reused')['groups']['slab']['rows'][0]
        self.assertAlmostEqual(kept['growth_bytes_per_s'], by_comm['sure_growth_bytes_per_s'], places=6)
        self.assertAlmostEqual(kept['growth_bytes_per_s'] + ghost['growth_bytes_per_s'], by_comm['growth_bytes_per_s'], places=6)
