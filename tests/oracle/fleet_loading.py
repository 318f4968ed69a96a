# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests what loading stores: tables, schema versions and shards. Also tests traces that are loaded again, by two
loaders at once, or partially. fleet_test.py runs these tests on real servers."""
import json
import os
import time

from export_traces import HOSTILE, export, planted, report, run
from fleet_side import HOSTS, fleet, groups, load, local_groups, schema


def first_schema(server, database, cluster=''):
    """Creates the tables of the first schema version."""
    sql = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'sql')
    places = {'database': database, 'text': 'LowCardinality(String)', 'local': '_local' if cluster else '', 'cluster': cluster}
    server.query(f'CREATE DATABASE {database}')
    server.query(f'CREATE TABLE {database}.schema_versions (version UInt32, applied DateTime) ENGINE = MergeTree() '
                 'PARTITION BY tuple() ORDER BY version')
    for name in ('tables', 'cluster') if cluster else ('tables',):
        with open(os.path.join(sql, f'{name}.1.sql'), encoding='ascii') as file:
            text = ''.join(line for line in file if not line.startswith('--'))
        for place, value in places.items():
            text = text.replace(f'{{{place}}}', value)
        for statement in text.strip().rstrip(';').split(';\n'):
            server.query(statement, allow_experimental_low_cardinality_type=1)
    server.query(f'INSERT INTO {database}.schema_versions SELECT toUInt32(1), now()')


class Loading:
    """Runs on two shards; needs self.urls, self.servers and self.query()."""

    def test_both_shards_have_rows(self):
        counts = [int(self.query('SELECT uniqExact(trace) FROM fleet_test.sums_local', i)[0]) for i in range(2)]
        self.assertGreater(min(counts), 0)
        loaded = [int(self.query('SELECT uniqExact(trace) FROM fleet_test.traces_local', i)[0]) for i in range(2)]
        self.assertEqual(len(HOSTS), sum(loaded))

    def test_a_shard_without_tables(self):
        """Retrying is useless here, so the error and its cause must be reported immediately."""
        url = f'{self.servers.all[0].url}/half'
        schema(url, '--cluster', 'fleet')
        began = time.monotonic()
        done = run('fleet', 'report', '--server', url)
        self.assertEqual(2, done.returncode)
        self.assertLess(time.monotonic() - began, 30)
        self.assertIn('half.traces_local', done.stderr.replace('\n', ''))
        self.assertIn('--cluster NAME', done.stderr.replace('\n', ' '))

    def test_tables_of_an_older_version(self):
        """A query must report that the tables need an upgrade, and loading must upgrade them. Data loaded before
        must stay."""
        url, newer = (self.urls[0].replace('/fleet_test', name) for name in ('/older', '/newer'))
        path, began = HOSTS['web1']
        load(newer, path, 'web1', began)
        before = fleet(newer, 'report')
        first_schema(self.servers.all[0], 'older')
        for table in 'traces', 'sums':
            columns = ', '.join(self.query(f"SELECT name FROM system.columns WHERE database = 'older' AND table = '{table}'"))
            self.query(f'INSERT INTO older.{table} SELECT {columns} FROM newer.{table}')
        self.assertIn('fleet schema', fleet(url, 'leaks', exit_code=2))
        load(url, HOSTS['late'][0], 'late', HOSTS['late'][1])
        self.assertEqual('The tables of the database older existed already: schema 9\n', schema(url))
        self.assertEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9'], self.query('SELECT version FROM older.schema_versions ORDER BY version'))
        self.assertEqual(before, fleet(url, 'report', '--host', 'web1') | {'of': before['of']})
        reported = fleet(url, 'leaks', '--host', 'web1')['groups']
        self.assertEqual({0}, {row['unseen_bytes'] for row in reported['slab']['rows']})
        self.assertEqual({0}, {row['live_bytes'] - row['reclaimable_bytes'] for row in reported['pages']['rows']})
        old = fleet(newer, 'leaks', '--host', 'web1')['groups']['pages']['rows']
        self.assertNotEqual({0}, {row['live_bytes'] - row['reclaimable_bytes'] for row in old})

    def test_older_tables_of_a_cluster(self):
        for server in self.servers.all:
            first_schema(server, 'older_cluster', 'fleet')
        for server in self.servers.all:
            self.assertEqual("The tables of the database older_cluster were changed from schema 1: schema 9, for this shard and for the cluster\n",
                             schema(f'{server.url}/older_cluster'))
        load(self.urls[0].replace('/fleet_test', '/older_cluster'), HOSTS['reused'][0], 'reused', HOSTS['reused'][1])
        load(self.urls[0].replace('/fleet_test', '/older_cluster'), HOSTS['web1'][0], 'web1', HOSTS['web1'][1])
        for server in self.servers.all:
            self.assertNotEqual('0', server.query('SELECT sum(freed_unseen) FROM older_cluster.sums').strip())
            self.assertNotEqual('0', server.query("SELECT count() FROM older_cluster.sums WHERE migrate_type = 'Movable'").strip())

    def test_unknown_clusters(self):
        done = run('fleet', 'schema', '--server', self.urls[0], '--cluster', 'nope', seconds=300)
        self.assertEqual(2, done.returncode)
        self.assertIn('has no cluster nope', done.stderr)

    def test_options_that_select_no_events(self):
        """A trace from which the options select no events must not be loaded, because `report` has no result for it."""
        path, began = HOSTS['web1']
        for options in ('--comm', 'nobody*'), ('--time', '+100,'):
            done = run('export', path, '--to', 'clickhouse', self.urls[0], '--host', 'none', '--recorded-at', began, *options)
            self.assertEqual(2, done.returncode, done.stderr)
            self.assertIn('has no events, or the options select none of them', done.stderr.replace('\n', ' '))
            self.assertIn('has no such trace', fleet(self.urls[0], 'traces', '--host', 'none', exit_code=2))

    def test_hostile_names(self):
        path = planted('hostile', 'amd64', hostile=True, stacks=True)
        host = HOSTILE.replace('\x1b', '').replace('\x07', '') + "'); --\\"
        load(self.urls[0], path, host, '2026-01-01')
        glob = host.replace('*', '?')
        for key in ('call-site', 'cache', 'comm'):
            reported = fleet(self.urls[0], 'report', '--by', key, '--until', '2026-01-02', '--host', glob)
            self.assertEqual(local_groups(path, key), groups(reported, key))
            self.assertEqual({host}, {row['host'] for row in fleet(self.urls[0], 'traces', '--host', glob)['traces']})
        for server in self.servers.all:
            server.query('ALTER TABLE fleet_test.traces_local DROP PARTITION \'2026-01-01\'')

    def test_events(self):
        """The stored events must equal those of `export --to jsonl`."""
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
        """A trace loaded again in a different form is not recognised. A message must warn about this."""
        path = HOSTS['web2'][0]
        for server in self.servers.all:
            self.addCleanup(server.query, "ALTER TABLE fleet_test.traces_local DROP PARTITION '2025-02-01'")
        for began in ('2025-02-01T10:00:00Z', '2025-02-01T11:00:00Z'):
            self.assertNotIn('same time', load(self.urls[0], path, 'form', began))
        self.assertIn('another trace of form from the same time is already loaded',
                      load(self.urls[0], path, 'form', began, '--cpu', '0'))

    def test_again(self):
        """Loading a trace again must not duplicate data, also with another level."""
        path, began = HOSTS['web1']
        before = fleet(self.urls[0], 'report', '--by', 'host')
        self.assertIn('already loaded', load(self.urls[0], path, 'web1', began))
        self.assertIn('already loaded', load(self.urls[1], path, 'web1', began, level='aggregates'))
        self.assertEqual(before, fleet(self.urls[0], 'report', '--by', 'host'))

    def test_rows_of_two_loaders_are_merged(self):
        """On one server, duplicate rows of two loaders are merged. In a cluster, the loader that finishes last
        prints the necessary command."""
        url = self.urls[0].replace('/fleet_test', '/at_once')
        path, began = HOSTS['late']
        load(url, path, 'twice', began)
        want = fleet(url, 'report', '--host', 'twice')['groups']
        rows = self.query('SELECT count() FROM at_once.sums')
        # Simulates a second loader that checked for existing data at the same time and was then killed.
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
        self.assertIn('were already on the server', load(self.urls[0], path, 'twice', '2025-01-01'))
        self.assertEqual(once, fleet(self.urls[0], 'report', '--host', 'twice'))
        self.assertEqual([str(report(path)['trace']['events'])],
                         self.query("SELECT count() FROM fleet_test.events WHERE host = 'twice'"))
        for server in self.servers.all:
            server.query("ALTER TABLE fleet_test.traces_local DROP PARTITION '2025-01-01'")

    def test_dropped_rows(self):
        """The next load must store dropped rows again. Rows removed as described in docs/formats/fleet.md must not
        reappear."""
        url = self.urls[0].replace('/fleet_test', '/dropped')
        for host in 'late', 'web1':
            load(url, HOSTS[host][0], host, HOSTS[host][1])
        before = [fleet(url, what) for what in ('report', 'traces')]
        rows = self.query('SELECT count() FROM dropped.sums'), self.query('SELECT count() FROM dropped.events')
        for table in 'sums', 'events':
            self.query(f"ALTER TABLE dropped.{table} DROP PARTITION ('2026-11-20', 'late')")
            self.assertIn('were already on the server', load(url, HOSTS['late'][0], 'late', HOSTS['late'][1]))
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
