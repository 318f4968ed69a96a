#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`export --to clickhouse` and `fleet`, with real servers: two of Debian's ClickHouse (18.16) as two shards, and a current
engine. What they tell of a host has to be what `report`, `leaks` and `diff` tell of its trace; of all hosts, the sum."""
import collections
import contextlib
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import clickhouse  # noqa: E402
import planted_trace  # noqa: E402
import ring_writer  # noqa: E402
import tracedat  # noqa: E402
from export_traces import HOSTILE, Case, data, export, place, planted, report, run  # noqa: E402
from kmemtrace import PROGRAM  # noqa: E402

CHDB = '@chdb/lib-linux-x64-gnu@26.5.3'
CHDB_FOLDER = os.environ.get('KMEMTRACE_CHDB', '')
ALLOCATORS = 'slab', 'pages', 'percpu', 'vmalloc'
MEASURES = ('allocations', 'failed_allocations', 'bytes_requested', 'bytes_allocated', 'matched_frees', 'bytes_freed',
            'live_allocations', 'live_bytes', 'cross_cpu_frees')
GHOST, KEPT = 0xffffffff81000001, 0xffffffff81000101


def write_long_trace(path, pairs, seconds=10):
    """Text: as many allocations and, but for each tenth, frees, over so many seconds."""
    with open(path, 'w', encoding='ascii') as file:
        for i in range(pairs):
            at = f'{100 + i * seconds / pairs:.6f}'
            file.write(f'          make-{100 + i % 7}     [00{i % 2}] ..... {at}: kmalloc: call_site=f{i % 50}+0x1/0x20 '
                       f'ptr={0xffff888000000000 + i * 64:x} bytes_req=60 bytes_alloc=64 gfp_flags=GFP_KERNEL\n')
            if i % 10:
                file.write(f'          make-{100 + i % 7}     [00{i % 2}] ..... {at}: kfree: call_site=g+0x1/0x20 '
                           f'ptr={0xffff888000000000 + i * 64:x}\n')
    return path


def write_reused_trace(path):
    """Ten seconds: some of what GHOST allocates is freed, and of some only the address is given again; KEPT keeps all."""
    recorder = ring_writer.Recorder(data('amd64/trace.dat'), cpus=1)
    recorder.trace.kallsyms = b''.join(f'{site & ~0xf:x} t {name}\n'.encode() for site, name in
                                       ((GHOST, 'ghost'), (KEPT, 'kept'), (GHOST + 0x1000, 'other')))
    for i in range(2_000):
        time, kept = 20 * 10**9 + i * 5_000_000, i % 10 == 0
        pointer = 0xffff888100000000 + 64 * (2 * i + 1 if kept else 2 * (i if i % 4 else i - 1 - i % 3))
        recorder.add(time, 0, 'kmalloc', 100, call_site=KEPT if kept else GHOST, ptr=pointer, bytes_req=64, bytes_alloc=64,
                     gfp_flags=planted_trace.GFP_KERNEL, node=-1)
        if not kept and i % 3 == 0:
            recorder.add(time + 1000, 0, 'kfree', 100, call_site=GHOST + 0x1001, ptr=pointer)
    with open(path, 'wb') as file:
        file.write(tracedat.to_v7(recorder.finished())[0])
    return path


def write_reclaimable_trace(path):
    """Ten seconds of objects that stay but for one: every other one is of kmalloc-rcl-64."""
    recorder = ring_writer.Recorder(data('amd64/trace.dat'), cpus=1)
    recorder.trace.kallsyms = f'{KEPT & ~0xf:x} t kept\n{KEPT + 0x1000:x} t other\n'.encode()
    for i in range(1_000):
        recorder.add(20 * 10**9 + i * 10_000_000, 0, 'kmalloc', 100, call_site=KEPT, ptr=0xffff888100000000 + 64 * i, bytes_req=64,
                     bytes_alloc=64, gfp_flags=planted_trace.GFP_KERNEL | (0x10 if i % 2 else 0), node=-1)
    recorder.add(30 * 10**9, 0, 'kfree', 100, call_site=KEPT + 0x1000, ptr=0xffff888100000000)
    with open(path, 'wb') as file:
        file.write(tracedat.to_v7(recorder.finished())[0])
    return path


# Hosts, each with its trace and when it began. One goes over midnight.
HOSTS = {'web1': (data('amd64/trace.dat'), '2026-11-20T10:00:00Z'), 'web2': (data('amd64-5.10/trace.dat'), '2026-11-20T11:00:00Z'),
         'arm': (data('arm64/trace.dat'), '2026-11-20T12:00:00Z'), 'old': (data('i386/trace.dat'), '2026-11-21T10:00:00Z'),
         'big': (data('s390x/trace.dat'), '2026-11-21T12:00:00Z'), 'deep': (data('amd64-stacks/trace.dat'), '2026-11-22T00:00:00Z'),
         'late': (write_long_trace(place('late.txt'), 3_000), '2026-11-20T23:59:55Z'),
         'reused': (write_reused_trace(place('reused.dat')), '2026-11-22T10:00:00Z'),
         'rcl': (write_reclaimable_trace(place('rcl.dat')), '2026-11-22T11:00:00Z')}


def load(url, path, host, began, *options, level='events'):
    done = run('export', path, '--to', 'clickhouse', url, '--host', host, '--recorded-at', began, '--level', level,
               *options, seconds=600)
    assert done.returncode == 0, done.stderr
    return done.stderr


def schema(url, *options):
    done = run('fleet', 'schema', '--server', url, *options, seconds=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def fleet(url, what, *options, exit_code=0):
    done = run('fleet', what, '--server', url, '--json', '--limit', '0', '--retry', '10s', *options, seconds=600)
    assert done.returncode == exit_code, f'fleet {what} {options}: {done.returncode}: {done.stderr}'
    return json.loads(done.stdout) if exit_code == 0 else done.stderr


def function_of(symbol):
    return re.sub(r'\.(isra|constprop|part|cold|llvm)\b.*', '', re.sub(r'(\+0x.*| \[.*)$', '', symbol))


def text_of_key(key, value):
    """A key of `report --json` as the rows of a fleet have it."""
    if value is None:
        return None
    if key in ('call-site', 'caller'):
        return value['symbol'] if value['address'] != '0x0' else None
    return str(value)


def groups(told, key):
    """{(allocator, key): {measure: sum}} of `report --by KEY --json` or of `fleet report --by KEY --json`."""
    of_fleet = told['schema'].startswith('kmemtrace.fleet')
    found = collections.defaultdict(collections.Counter)
    for allocator, table in told['groups'].items():
        for row in table['rows']:
            value = row['keys'][key]
            value = value if of_fleet else text_of_key(key, value)
            for measure in MEASURES:
                name = 'frees' if measure == 'matched_frees' and not of_fleet else measure
                found[allocator, value][measure] += row[name] or 0
    return {name: sums for name, sums in found.items() if any(sums.values())}


def local_groups(path, key, *options):
    """All allocators, those to which the key does not apply as one group; instead of call sites, callers that stacks tell."""
    found = groups(report(path, '--by', key, *options), key)
    missing = [name for name in ALLOCATORS if not any(allocator == name for allocator, _ in found)]
    instead = 'caller' if key == 'call-site' else 'comm'
    for (allocator, value), sums in groups(report(path, '--by', instead, *options), instead).items():
        if allocator in missing:
            found.setdefault((allocator, value if instead == 'caller' else None), collections.Counter()).update(sums)
    return found


def doubted(path, key, reason):
    """{key: bytes of slab objects that `leaks` has doubts of for that reason}, without zeros."""
    done = run('leaks', path, '--by', key, '--json', '--limit', '0', seconds=300)
    doubts = {text_of_key(key, row['keys'][key]): sum(doubt['bytes'] for doubt in row['uncertain'] if doubt['reason'] == reason)
              for row in json.loads(done.stdout)['groups']['slab']['rows']}
    return {name: bytes for name, bytes in doubts.items() if bytes}


@unittest.skipUnless(clickhouse.PROGRAM, 'there is no clickhouse-server: tools/install-packages.sh test installs it')
class TwoShards(Case):
    @classmethod
    def setUpClass(cls):
        cls.servers = clickhouse.Servers(2)
        cls.servers.__enter__()
        cls.addClassCleanup(cls.servers.__exit__)
        cls.urls = [f'{server.url}/fleet_test' for server in cls.servers.all]
        for url in cls.urls:
            schema(url, '--cluster', 'fleet')
        for host, (path, began) in HOSTS.items():
            load(cls.urls[0], path, host, began)

    def query(self, sql, server=0):
        return self.servers.all[server].query(sql).rstrip('\n').split('\n')

    def test_both_shards_hold_some(self):
        counts = [int(self.query('SELECT uniqExact(trace) FROM fleet_test.sums_local', i)[0]) for i in range(2)]
        self.assertGreater(min(counts), 0)
        loaded = [int(self.query('SELECT uniqExact(trace) FROM fleet_test.traces_local', i)[0]) for i in range(2)]
        self.assertEqual(len(HOSTS), sum(loaded))

    def test_each_host_as_its_trace(self):
        for host, (path, _) in HOSTS.items():
            for key in ('call-site', 'cache', 'comm', 'order', 'context'):
                with self.subTest(host=host, key=key):
                    told = fleet(self.urls[1], 'report', '--by', key, '--host', host)
                    self.assertEqual(local_groups(path, key), groups(told, key))

    def test_callers_of_pages(self):
        """Stacks tell them; without stacks nothing does."""
        def callers(host):
            return {row['keys']['function'] for row in fleet(self.urls[0], 'report', '--host', host)['groups']['pages']['rows']}
        self.assertEqual({None}, callers('web1'))
        self.assertGreater(len(callers('deep') - {None}), 5)
        self.assertFalse({'__alloc_pages', 'alloc_pages', '__get_free_pages'} & callers('deep'))

    def test_all_hosts_together(self):
        total = collections.defaultdict(collections.Counter)
        hosts = collections.Counter()
        for path, _ in HOSTS.values():
            for (allocator, symbol), sums in local_groups(path, 'call-site').items():
                total[allocator, symbol and function_of(symbol)].update(sums)
            hosts.update({(allocator, symbol and function_of(symbol))
                          for allocator, symbol in local_groups(path, 'call-site')})
        told = fleet(self.urls[0], 'report')
        self.assertEqual(dict(total), groups(told, 'function'))
        for allocator, table in told['groups'].items():
            for row in table['rows']:
                self.assertEqual(hosts[allocator, row['keys']['function']], row['hosts'])

    def test_lifetimes(self):
        for host, (path, _) in HOSTS.items():
            slab = fleet(self.urls[0], 'report', '--by', 'host', '--host', host)['groups']['slab']['rows'][0]
            self.assertEqual(report(path)['slab']['lifetime']['mean_ns'], slab['mean_lifetime_ns'] or 0)

    def test_live_as_leaks_tells(self):
        for host, (path, _) in HOSTS.items():
            done = run('leaks', path, '--by', 'call-site', '--json', '--limit', '0', seconds=300)
            want = {row['keys']['call-site']['symbol']: (row['live_allocations'], row['live_bytes'])
                    for row in json.loads(done.stdout)['groups'].get('slab', {'rows': []})['rows'] if row['live_allocations']}
            rows = fleet(self.urls[0], 'leaks', '--by', 'call-site', '--host', host)['groups'].get('slab', {'rows': []})['rows']
            self.assertEqual(want, {row['keys']['call-site']: (row['live_allocations'], row['live_bytes'])
                                    for row in rows if row['live_allocations']})

    def slope(self, path):
        """{function: the slope of the line of least squares through live bytes of slab objects}, by integrals."""
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
            slopes[function] = 12 / seconds ** 3 * integral if level else 0  # what is gone has not grown
        return slopes

    def test_growth(self):
        rows = fleet(self.urls[0], 'leaks', '--host', 'late')['groups']['slab']['rows']
        got = {row['keys']['function']: row['growth_bytes_per_s'] for row in rows}
        want = self.slope(HOSTS['late'][0])
        self.assertEqual(want.keys(), got.keys())
        self.assertIn(0, want.values())
        for function, slope in want.items():
            self.assertAlmostEqual(slope, got[function], delta=max(abs(slope) * 1e-6, 1e-3), msg=function)

    def test_growth_of_short_traces(self):
        """Nothing is said of less than a second, and it does not count for the mean."""
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
        """An hour's slope is worth more than a second's."""
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

    def test_deviation_of_what_grows_alike(self):
        url = f'{self.servers.all[0].url}/fleet_alike'
        for host in 'a', 'b', 'c':
            load(url, HOSTS['rcl'][0], host, '2026-11-20', level='aggregates')
        row, = fleet(url, 'leaks', '--by', 'comm')['groups']['slab']['rows']
        self.assertGreater(row['growth_bytes_per_s'], 0)
        self.assertEqual(3, row['traces'])
        self.assertAlmostEqual(0, row['deviation_bytes_per_s'], places=9)

    def test_who_may_only_read(self):
        """Asks all that there is to ask."""
        url = self.urls[0].replace('http://', 'http://reader@')
        for question in (('report',), ('leaks',), ('traces',), ('diff', '--a', 'host=web1', '--b', 'host=web2')):
            self.assertEqual(fleet(self.urls[0], *question)['of' if question[0] != 'diff' else 'a'],
                             fleet(url, *question)['of' if question[0] != 'diff' else 'a'])

    def test_a_shard_without_tables(self):
        """Time does not cure it: it is said at once, with the cause."""
        url = f'{self.servers.all[0].url}/half'
        schema(url, '--cluster', 'fleet')
        began = time.monotonic()
        done = run('fleet', 'report', '--server', url)
        self.assertEqual(2, done.returncode)
        self.assertLess(time.monotonic() - began, 30)
        self.assertIn('half.traces_local', done.stderr.replace('\n', ''))
        self.assertIn('--cluster NAME', done.stderr.replace('\n', ' '))

    def test_reclaimable(self):
        """All that lives of caches that are, nothing of others."""
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
        for host, told in (('web1', live), ('rcl', rcl)):
            with self.subTest(host):
                self.assertEqual(doubted(HOSTS[host][0], 'cache', 'reclaimable'),
                                 {cache: bytes for cache, (bytes, _) in told.items() if bytes})
        pages = fleet(self.urls[0], 'leaks', '--host', 'web1', '--by', 'order')['groups']['pages']['rows']
        self.assertEqual({None}, {row['reclaimable_bytes'] for row in pages})

    def test_freed_unseen(self):
        """What lives at call sites that free unseen is not sure, as `leaks` tells; growth of the rest is of the rest alone."""
        rows = fleet(self.urls[0], 'leaks', '--by', 'call-site', '--host', 'reused')['groups']['slab']['rows']
        self.assertEqual(doubted(HOSTS['reused'][0], 'call-site', 'reallocated'),
                         {row['keys']['call-site']: row['unseen_bytes'] for row in rows if row['unseen_bytes']})
        told = {row['keys']['call-site']: row for row in rows}
        ghost, kept = told['ghost+0x1'], told['kept+0x1']
        self.assertEqual((ghost['live_bytes'], 0, 0), (ghost['unseen_bytes'], ghost['sure_growth_bytes_per_s'], ghost['growing_hosts']))
        self.assertEqual((kept['growth_bytes_per_s'], 0, 1),
                         (kept['sure_growth_bytes_per_s'], kept['unseen_bytes'], kept['growing_hosts']))
        self.assertGreater(ghost['growth_bytes_per_s'], kept['growth_bytes_per_s'])
        self.assertEqual('kept+0x1', rows[0]['keys']['call-site'])
        by_comm = fleet(self.urls[0], 'leaks', '--by', 'comm', '--host', 'reused')['groups']['slab']['rows'][0]
        self.assertAlmostEqual(kept['growth_bytes_per_s'], by_comm['sure_growth_bytes_per_s'], places=6)
        self.assertAlmostEqual(kept['growth_bytes_per_s'] + ghost['growth_bytes_per_s'], by_comm['growth_bytes_per_s'], places=6)

    def test_tables_of_an_older_version(self):
        """Asking says what to do, loading does it; what was loaded before stays."""
        url = self.urls[0].replace('/fleet_test', '/older')
        path, began = HOSTS['web1']
        load(url, path, 'web1', began)
        before = fleet(url, 'report')
        self.query('ALTER TABLE older.sums DROP COLUMN freed_unseen')
        self.query("ALTER TABLE older.schema_versions DROP PARTITION ID 'all'")
        self.query('INSERT INTO older.schema_versions SELECT toUInt32(1), now()')
        self.assertIn('fleet schema', fleet(url, 'leaks', exit_code=2))
        load(url, HOSTS['late'][0], 'late', HOSTS['late'][1])
        self.assertEqual('The tables of the database older were there: schema 2\n', schema(url))
        self.assertEqual(['1', '2'], self.query('SELECT version FROM older.schema_versions ORDER BY version'))
        self.assertEqual(before, fleet(url, 'report', '--host', 'web1') | {'of': before['of']})
        self.assertEqual({0}, {row['unseen_bytes'] for row in fleet(url, 'leaks', '--host', 'web1')['groups']['slab']['rows']})

    def test_older_tables_of_a_cluster(self):
        for server in self.servers.all:
            url = f'{server.url}/older_cluster'
            self.assertEqual("The tables of the database older_cluster were made: schema 2, a shard's and its cluster's\n",
                             schema(url, '--cluster', 'fleet'))
            for table in 'sums', 'sums_local':
                server.query(f'ALTER TABLE older_cluster.{table} DROP COLUMN freed_unseen')
            server.query("ALTER TABLE older_cluster.schema_versions DROP PARTITION ID 'all'")
            server.query('INSERT INTO older_cluster.schema_versions SELECT toUInt32(1), now()')
        for server in self.servers.all:
            self.assertEqual("The tables of the database older_cluster were of schema 1: schema 2, a shard's and its cluster's\n",
                             schema(f'{server.url}/older_cluster'))
        load(self.urls[0].replace('/fleet_test', '/older_cluster'), HOSTS['reused'][0], 'reused', HOSTS['reused'][1])
        for server in self.servers.all:
            self.assertNotEqual('0', server.query('SELECT sum(freed_unseen) FROM older_cluster.sums').strip())

    def test_clusters_that_nobody_knows(self):
        done = run('fleet', 'schema', '--server', self.urls[0], '--cluster', 'nope', seconds=300)
        self.assertEqual(2, done.returncode)
        self.assertIn('knows no cluster nope', done.stderr)

    def test_diff_as_diff_tells(self):
        """Of two hosts with a trace each. Local durations may begin with an event that no report counts."""
        done = run('diff', HOSTS['web2'][0], HOSTS['web1'][0], '--json', '--limit', '0', '--per', 'second')
        local = json.loads(done.stdout)
        told = fleet(self.urls[0], 'diff', '--a', 'host=web2', '--b', 'kernel=*,host=web1')
        for side in 'ab':
            self.assertAlmostEqual(local['basis'][side], told['basis'][side], delta=local['basis'][side] * 0.01)
        for allocator in ('slab', 'percpu'):
            rows = local['groups'].get(allocator, {'rows': []})['rows']
            want = {row['keys']['call-site']: row for row in rows}
            got = {row['keys']['function'] or '0x0': row for row in told['groups'].get(allocator, {'rows': []})['rows']}
            want.pop('unknown', None)
            got.pop('0x0', None)
            self.assertEqual(want.keys(), got.keys())
            for name, row in want.items():
                self.assertEqual((row['in_a'], row['in_b']), (got[name]['in_a'], got[name]['in_b']))
                for column in ('hits', 'requested', 'allocated', 'frees', 'live', 'live-bytes', 'pingpong'):
                    for side in 'ab':
                        divided = column not in ('live', 'live-bytes')
                        one, other = row['columns'][column][side], got[name]['columns'][column][side]
                        if one is None:  # nothing of the allocator in that trace
                            self.assertIsNone(other)
                            continue
                        counts = [value * (told_of['basis'][side] if divided else 1)
                                  for value, told_of in ((one, local), (other, told))]
                        self.assertAlmostEqual(*counts, delta=1e-6 * max(1, abs(one)), msg=(name, column, side))

    def test_diff_of_what_one_side_lacks(self):
        """Of an allocator that a side has nothing of nothing is new: perhaps it was recorded without."""
        local = json.loads(run('diff', HOSTS['late'][0], HOSTS['web1'][0], '--by', 'comm', '--json', '--limit', '0').stdout)['groups']['pages']
        told = fleet(self.urls[0], 'diff', '--by', 'comm', '--a', 'host=late', '--b', 'host=web1')['groups']['pages']
        self.assertGreater(local['total'], 0)
        for table in local, told:
            self.assertEqual((table['total'], 0), (table['unknown'], table['changed']))
            self.assertEqual({None}, {row['columns']['hits']['a'] for row in table['rows']})
            self.assertNotIn(None, {row['columns']['hits']['b'] for row in table['rows']})
        for options, side in (('host=late', 'host=web1'), 'A'), (('host=web1', 'host=late'), 'B'):
            done = run('fleet', 'diff', '--server', self.urls[0], '--a', options[0], '--b', options[1])
            self.assertRegex(done.stdout, rf'Pages\n +{side} holds no allocation of it')
            self.assertRegex(done.stdout, 'Slab by function: change')

    def test_kernels(self):
        """Which call sites are on which kernel: groups nest."""
        told = fleet(self.urls[0], 'leaks', '--by', 'version,function')
        versions = {row['keys']['version'] for row in told['groups']['slab']['rows']}
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
        # Of a report, what happened in the time: a trace that goes over midnight is cut there.
        days = [fleet(self.urls[0], 'report', '--host', 'late', '--by', 'host', *when)['groups']['slab']['rows'][0]
                for when in (('--until', '2026-11-21'), ('--since', '2026-11-21'), ())]
        for measure in ('allocations', 'bytes_allocated', 'matched_frees'):
            self.assertEqual(days[2][measure], days[0][measure] + days[1][measure])
        self.assertGreater(days[1]['allocations'], 0)
        # What lives at the end was allocated in it or before.
        for measure in ('live_allocations', 'live_bytes'):
            self.assertEqual(days[2][measure], days[1][measure])
            self.assertNotEqual(days[2][measure], days[0][measure])

    def test_sides_are_parts(self):
        """Of what the other options select: both conditions hold."""
        def hosts(*options):
            told = fleet(self.urls[0], 'diff', '--by', 'host', *options)
            return [{row['keys']['host'] for row in told['groups']['slab']['rows'] if row[side]} for side in ('in_a', 'in_b')]
        self.assertEqual([{'web1'}, {'web2'}], hosts('--host', 'web*', '--a', 'host=web1', '--b', 'kernel=5.10*'))
        self.assertEqual([{'web1', 'old'}, {'old'}], hosts('--a', 'host=web1,host=old', '--b', 'host=old'))
        self.assertEqual([{'old', 'big'}, {'big'}],
                         hosts('--since', '2026-11-21', '--a', 'since=2026-11-20,until=2026-11-22', '--b', 'host=big'))
        why = fleet(self.urls[0], 'diff', '--host', 'web1', '--a', 'host=web2', '--b', 'host=web1', exit_code=2)
        self.assertIn('holds no trace of host web1, host web2', why.replace('\n', ' '))

    def test_what_selects_nothing(self):
        """Is not loaded, as `report` tells of nothing."""
        path, began = HOSTS['web1']
        for options in ('--comm', 'nobody*'), ('--time', '+100,'):
            done = run('export', path, '--to', 'clickhouse', self.urls[0], '--host', 'none', '--recorded-at', began, *options)
            self.assertEqual(2, done.returncode, done.stderr)
            self.assertIn('no event that passes the options', done.stderr.replace('\n', ' '))
            self.assertIn('holds no trace', fleet(self.urls[0], 'traces', '--host', 'none', exit_code=2))

    def test_hostile_filters(self):
        """What is in a filter stays text."""
        for text in ("'", '"', '\\', "\\'", "x' OR '1'='1", "%", "_", "') OR 1=1 --", '`', 'a;DROP TABLE x', '\n', '*%*'):
            with self.subTest(text):
                self.assertIn('holds no trace', fleet(self.urls[0], 'report', '--host', text, exit_code=2))
                self.assertIn('holds no trace', fleet(self.urls[0], 'report', '--kernel', text, exit_code=2))

    def test_hostile_names(self):
        path = planted('hostile', 'amd64', hostile=True, stacks=True)
        host = HOSTILE.replace('\x1b', '').replace('\x07', '') + "'); --\\"
        load(self.urls[0], path, host, '2026-01-01')
        glob = host.replace('*', '?')
        for key in ('call-site', 'cache', 'comm'):
            told = fleet(self.urls[0], 'report', '--by', key, '--until', '2026-01-02', '--host', glob)
            self.assertEqual(local_groups(path, key), groups(told, key))
            self.assertEqual({host}, {row['host'] for row in fleet(self.urls[0], 'traces', '--host', glob)['traces']})
        for server in self.servers.all:
            server.query('ALTER TABLE fleet_test.traces_local DROP PARTITION \'2026-01-01\'')

    def test_events(self):
        """As `jsonl` has them."""
        path, _ = HOSTS['deep']
        columns = ('time_ns', 'cpu', 'tid', 'task', 'context', 'event', 'outcome', 'allocator', 'address', 'bytes_requested',
                   'bytes_allocated', 'symbol', 'cache', 'page_order', 'migrate_type', 'gfp_flags', 'node', 'allocation',
                   'lifetime_ns', 'stack')
        text = self.servers.all[0].query(f"SELECT {', '.join(columns)} FROM fleet_test.events WHERE host = 'deep' ORDER BY id "
                                         'FORMAT JSONEachRow', output_format_json_quote_64bit_integers=0)
        got = [{key: value for key, value in json.loads(line).items() if value not in (None, '', [])}
               for line in text.splitlines()]
        want = []
        for line in export(path, 'jsonl').splitlines():
            row = json.loads(line)
            row.pop('call_site', None)
            if 'order' in row:
                row['page_order'] = row.pop('order')
            if 'address' in row:
                row['address'] = int(row['address'], 16)
            row.setdefault('allocation', 0)
            want.append({key: value for key, value in row.items() if value not in (None, '', [])})
        self.assertEqual(len(want), len(got))
        for one, other in zip(want, got):
            self.assertEqual(one, other)

    def test_of_the_same_time(self):
        """Of what is loaded again in another form nobody knows that it is the same; it is said."""
        path = HOSTS['web2'][0]
        for server in self.servers.all:
            self.addCleanup(server.query, "ALTER TABLE fleet_test.traces_local DROP PARTITION '2025-02-01'")
        for began in ('2025-02-01T10:00:00Z', '2025-02-01T11:00:00Z'):
            self.assertNotIn('same time', load(self.urls[0], path, 'form', began))
        self.assertIn('another trace of form of the same time is there',
                      load(self.urls[0], path, 'form', began, '--cpu', '0'))

    def test_again(self):
        """Neither a second load nor one of another level doubles anything."""
        path, began = HOSTS['web1']
        before = fleet(self.urls[0], 'report', '--by', 'host')
        self.assertIn('there already', load(self.urls[0], path, 'web1', began))
        self.assertIn('there already', load(self.urls[1], path, 'web1', began, level='aggregates'))
        self.assertEqual(before, fleet(self.urls[0], 'report', '--by', 'host'))

    def test_what_two_loaders_stored_is_merged(self):
        """On one server. In a cluster the one that ends last says what is to be done."""
        url = self.urls[0].replace('/fleet_test', '/at_once')
        path, began = HOSTS['late']
        load(url, path, 'twice', began)
        want = fleet(url, 'report', '--host', 'twice')['groups']
        rows = self.query('SELECT count() FROM at_once.sums')
        # As if another loader, which then was killed, had asked at the same time what is there.
        for table in 'sums', 'events':
            self.query(f'INSERT INTO at_once.{table} SELECT * FROM at_once.{table}')
        self.query("ALTER TABLE at_once.traces DROP PARTITION '2026-11-20'")
        self.assertEqual([str(2 * int(rows[0]))], self.query('SELECT count() FROM at_once.sums'))
        load(url, path, 'twice', began)
        self.assertEqual(rows, self.query('SELECT count() FROM at_once.sums'))
        self.assertEqual(want, fleet(url, 'report', '--host', 'twice')['groups'])

    def test_aggregates_and_then_events(self):
        path = HOSTS['web1'][0]
        load(self.urls[0], path, 'twice', '2025-01-01', level='aggregates')
        self.assertEqual(['0'], self.query("SELECT count() FROM fleet_test.events WHERE host = 'twice'"))
        once = fleet(self.urls[0], 'report', '--host', 'twice')
        self.assertIn('were there already', load(self.urls[0], path, 'twice', '2025-01-01'))
        self.assertEqual(once, fleet(self.urls[0], 'report', '--host', 'twice'))
        self.assertEqual([str(report(path)['trace']['events'])],
                         self.query("SELECT count() FROM fleet_test.events WHERE host = 'twice'"))
        for server in self.servers.all:
            server.query("ALTER TABLE fleet_test.traces_local DROP PARTITION '2025-01-01'")

    def test_what_was_dropped(self):
        """Is loaded again; what is removed as docs/formats/fleet.md says is gone."""
        url = self.urls[0].replace('/fleet_test', '/dropped')
        for host in 'late', 'web1':
            load(url, HOSTS[host][0], host, HOSTS[host][1])
        before = [fleet(url, what) for what in ('report', 'traces')]
        rows = self.query('SELECT count() FROM dropped.sums'), self.query('SELECT count() FROM dropped.events')
        for table in 'sums', 'events':
            self.query(f"ALTER TABLE dropped.{table} DROP PARTITION ('2026-11-20', 'late')")
            self.assertIn('were there already', load(url, HOSTS['late'][0], 'late', HOSTS['late'][1]))
            self.assertEqual(before, [fleet(url, what) for what in ('report', 'traces')])
            self.assertEqual(rows, (self.query('SELECT count() FROM dropped.sums'), self.query('SELECT count() FROM dropped.events')))
        trace = next(row['trace'] for row in before[1]['traces'] if row['host'] == 'late')
        for table in 'traces', 'sums', 'events':
            self.query(f"ALTER TABLE dropped.{table} DELETE WHERE trace = '{trace}'")
        end = time.monotonic() + 60
        while self.query('SELECT count() FROM system.mutations WHERE NOT is_done') != ['0'] and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual({'web1'}, {row['host'] for row in fleet(url, 'traces')['traces']})
        for table in 'sums', 'events':
            self.assertEqual(['web1'], self.query(f'SELECT DISTINCT host FROM dropped.{table}'))

    def test_loopback_only(self):
        for server in self.servers.all:
            with open('/proc/net/tcp', encoding='ascii') as table:
                listening = [line.split()[1] for line in table if line.split()[3] == '0A']
            for port in (server.http, server.tcp):
                self.assertEqual([f'0100007F:{port:04X}'], [at for at in listening if at.endswith(f':{port:04X}')])


@unittest.skipUnless(clickhouse.PROGRAM, 'there is no clickhouse-server: tools/install-packages.sh test installs it')
class Killed(Case):
    PAIRS = 350_000

    def setUp(self):
        self.servers = clickhouse.Servers(2)
        self.servers.__enter__()
        self.addCleanup(self.servers.__exit__)
        self.url = f'{self.servers.all[0].url}/fleet_test'
        for server in self.servers.all:
            schema(f'{server.url}/fleet_test', '--cluster', 'fleet')
        self.path = place('long.txt')
        if not os.path.exists(self.path):
            write_long_trace(self.path, self.PAIRS)

    def start_load(self):
        return subprocess.Popen([PROGRAM, 'export', self.path, '--to', 'clickhouse', self.url, '--host', 'h', '--recorded-at',
                                 '2026-11-20', '--retry', '5m', '--no-progress'], stderr=subprocess.PIPE, encoding='utf-8')

    def wait_for_rows(self, load):
        """Until a part of the events is there."""
        end = time.monotonic() + 300
        while time.monotonic() < end:
            self.assertIsNone(load.poll(), 'the load is over before it is disturbed')
            if any(int(server.query('SELECT count() FROM fleet_test.events_local')) for server in self.servers.all):
                return
            time.sleep(0.02)
        self.fail('nothing arrives')

    def check_whole(self):
        server = self.servers.all[0]
        told = report(self.path, '--by', 'call-site', seconds=300)
        events = told['trace']['events']
        self.assertEqual(f'{events}\t{events}\t{events}',
                         server.query('SELECT count(), uniqExact(id), max(id) FROM fleet_test.events').strip())
        for table, key in (('sums', 'cityHash64(allocator, call_site, comm, context, cache, page_order, at)'), ('traces', 'trace')):
            rows, different = server.query(f'SELECT count(), uniqExact({key}) FROM fleet_test.{table}').split()
            self.assertEqual(different, rows)
        self.assertEqual(groups(told, 'call-site'), groups(fleet(self.url, 'report', '--by', 'call-site'), 'call-site'))

    def finish(self, load):
        _, errors = load.communicate(timeout=600)
        self.assertEqual(0, load.returncode, errors)
        return errors

    def kill_server(self, which):
        load = self.start_load()
        self.wait_for_rows(load)
        server = self.servers.all[which]
        server.stop(signal.SIGKILL)
        self.assertIsNone(load.poll())
        time.sleep(1)
        server.start()
        errors = self.finish(load)
        self.check_whole()
        return errors

    def test_server_that_is_asked(self):
        self.kill_server(0)

    def test_other_shard(self):
        self.kill_server(1)

    def test_loader(self):
        """What a killed loader left is not shown, not sent again, and not doubled."""
        load = self.start_load()
        self.wait_for_rows(load)
        load.kill()
        load.communicate()
        self.assertIn('holds no trace', fleet(self.url, 'report', exit_code=2))
        self.assertIn('were there already', self.finish(self.start_load()))
        self.check_whole()

    def test_nobody_there(self):
        for server in self.servers.all:
            server.stop()
        done = run('export', data('amd64/trace.dat'), '--to', 'clickhouse', self.url, '--host', 'web1',
                   '--recorded-at', '2026-11-20', '--retry', '1s')
        self.assertEqual(2, done.returncode)
        self.assertIn('Cannot get through', done.stderr)


def chdb_library():
    """Where it is, or gets to be; None and why it is not. It is there only when all of it is: npm writes its 500 MB for a
    while, and others may test at the same time, or have been ended before."""
    if not CHDB_FOLDER:
        return None, 'KMEMTRACE_CHDB names no folder for it'
    place = os.path.join(CHDB_FOLDER, CHDB.rpartition('@')[2])
    library = os.path.join(place, 'node_modules', '@chdb', 'lib-linux-x64-gnu', 'libchdb.so')
    npm = shutil.which('npm')
    if os.path.exists(library):
        return library, ''
    if not npm:
        return None, 'there is no npm'
    os.makedirs(CHDB_FOLDER, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CHDB_FOLDER) as unfinished:
        try:
            subprocess.run([npm, 'install', '--no-audit', '--no-fund', '--no-save', '--loglevel=error', '--prefix', unfinished,
                            CHDB], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=True)
        except subprocess.SubprocessError as error:
            return None, f'npm does not install {CHDB}: {error}: {(error.stdout or b"").decode()}'
        with contextlib.suppress(OSError):  # another test's is there by now
            os.rename(unfinished, place)
        os.makedirs(unfinished, exist_ok=True)  # as whoever made it wants to remove it
    return library, ''


class CurrentEngine(Case):
    """The same SQL, the same rows."""

    @classmethod
    def setUpClass(cls):
        library, why = chdb_library()
        if library is None:
            raise unittest.SkipTest(why)
        folder = tempfile.mkdtemp(prefix='kmemtrace-chdb.')
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support', 'chdb_server.py')
        cls.process = subprocess.Popen([sys.executable, script, library, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        cls.addClassCleanup(cls.process.communicate)
        cls.url = f'http://127.0.0.1:{int(cls.process.stdout.readline())}'
        for host, (path, began) in HOSTS.items():
            load(cls.url, path, host, began)

    def test_as_local_reports(self):
        for host, (path, _) in HOSTS.items():
            for key in ('call-site', 'cache', 'order'):
                with self.subTest(host=host, key=key):
                    self.assertEqual(local_groups(path, key),
                                     groups(fleet(self.url, 'report', '--by', key, '--host', host), key))

    @unittest.skipUnless(clickhouse.PROGRAM, 'there is no clickhouse-server')
    def test_as_the_old_one(self):
        with clickhouse.Servers(1) as servers:
            old = servers.all[0].url
            for host, (path, began) in HOSTS.items():
                load(old, path, host, began)
            for question in (('report',), ('report', '--by', 'version,cache'), ('report', '--since', '2026-11-21', '--by', 'day'),
                             ('leaks', '--by', 'version,function'), ('leaks', '--by', 'host,cache'), ('traces',),
                             ('diff', '--a', 'host=web2', '--b', 'host=web1'), ('report', '--by', 'trace,order')):
                with self.subTest(question):
                    # Sums of decimals depend on their order in the last digits.
                    told = [json.dumps(rounded(fleet(url, *question)), sort_keys=True) for url in (old, self.url)]
                    self.assertEqual(*told)

    def test_again(self):
        path, began = HOSTS['web1']
        self.assertIn('there already', load(self.url, path, 'web1', began))


def rounded(value):
    """Decimals to 9 digits, and rows in an order that does not depend on them."""
    if isinstance(value, float):
        return float(f'{value:.6g}') if abs(value) > 1e-3 else 0.0
    if isinstance(value, list):
        return sorted((rounded(one) for one in value), key=lambda one: json.dumps(one, sort_keys=True))
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return value


if __name__ == '__main__':
    unittest.main()
