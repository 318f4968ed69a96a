#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests `export --to clickhouse` and `fleet` with real servers: two of Debian's ClickHouse (18.16) as two shards,
and a current engine. The results of a host must equal those of `report`, `leaks` and `diff` for its trace. The
results of all hosts must be the sum."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import clickhouse  # noqa: E402
from export_traces import Case, data, place, report, run  # noqa: E402
from fleet_account import Account  # noqa: E402
from fleet_leaks import Leaks  # noqa: E402
from fleet_loading import Loading  # noqa: E402
from fleet_reports import Reports  # noqa: E402
from fleet_side import HOSTS, fleet, groups, load, local_groups, schema, write_long_trace  # noqa: E402
from kmemtrace import PROGRAM  # noqa: E402

CHDB = '@chdb/lib-linux-x64-gnu@26.5.3'
CHDB_FOLDER = os.environ.get('KMEMTRACE_CHDB', '')


@unittest.skipUnless(clickhouse.PROGRAM, 'there is no clickhouse-server: tools/install-packages.sh test installs it')
class TwoShards(Reports, Leaks, Loading, Account, Case):
    """All tests share the servers, because starting them and loading data takes a long time."""

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
        """Waits until part of the events is stored."""
        end = time.monotonic() + 300
        while time.monotonic() < end:
            self.assertIsNone(load.poll(), 'the load is over before it is disturbed')
            if any(int(server.query('SELECT count() FROM fleet_test.events_local')) for server in self.servers.all):
                return
            time.sleep(0.02)
        self.fail('nothing arrives')

    def check_whole(self):
        server = self.servers.all[0]
        reported = report(self.path, '--by', 'call-site', seconds=300)
        events = reported['trace']['events']
        self.assertEqual(f'{events}\t{events}\t{events}',
                         server.query('SELECT count(), uniqExact(id), max(id) FROM fleet_test.events').strip())
        for table, key in (('sums', 'cityHash64(allocator, call_site, comm, context, cache, page_order, at)'), ('traces', 'trace')):
            rows, different = server.query(f'SELECT count(), uniqExact({key}) FROM fleet_test.{table}').split()
            self.assertEqual(different, rows)
        self.assertEqual(groups(reported, 'call-site'), groups(fleet(self.url, 'report', '--by', 'call-site'), 'call-site'))

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

    def test_queried_server_is_killed(self):
        self.kill_server(0)

    def test_other_shard_is_killed(self):
        self.kill_server(1)

    def test_loader_is_killed(self):
        """Data of a killed loader must not be shown, sent again or duplicated."""
        load = self.start_load()
        self.wait_for_rows(load)
        load.kill()
        load.communicate()
        self.assertIn('has no traces', fleet(self.url, 'report', exit_code=2))
        self.assertIn('were already on the server', self.finish(self.start_load()))
        self.check_whole()

    def test_the_unreachable_server_is_named(self):
        """The server that receives the query must report the unreachable server once."""
        done = run('export', data('amd64/trace.dat'), '--to', 'clickhouse', self.url, '--host', 'web1', '--recorded-at', '2026-11-20')
        self.assertEqual(0, done.returncode, done.stderr)
        self.servers.all[1].stop()
        done = run('fleet', 'report', '--server', self.url, '--retry', '0s')
        self.assertEqual(2, done.returncode)
        messages = ' '.join(done.stderr.split())
        self.assertIn(f'The server at {self.servers.all[0].url} cannot reach another server of its cluster', messages)
        self.assertEqual(1, messages.count(f'127.0.0.1:{self.servers.all[1].tcp}'), messages)

    def test_no_server(self):
        for server in self.servers.all:
            server.stop()
        done = run('export', data('amd64/trace.dat'), '--to', 'clickhouse', self.url, '--host', 'web1',
                   '--recorded-at', '2026-11-20', '--retry', '1s')
        self.assertEqual(2, done.returncode)
        self.assertIn('cannot be reached', done.stderr)


def chdb_library():
    """Returns the path of the library, or None and the reason. The path must appear only when the library is
    complete: npm needs a while to write 500 MB. Other tests may run at the same time or may have been killed before."""
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
        with contextlib.suppress(OSError):  # another test has installed the library meanwhile
            os.rename(unfinished, place)
        os.makedirs(unfinished, exist_ok=True)  # TemporaryDirectory needs the folder in order to remove it
    return library, ''


class CurrentEngine(Case):
    """The same SQL must return the same rows on a current engine."""

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

    def test_equals_local_reports(self):
        for host, (path, _) in HOSTS.items():
            for key in ('call-site', 'cache', 'order'):
                with self.subTest(host=host, key=key):
                    self.assertEqual(local_groups(path, key),
                                     groups(fleet(self.url, 'report', '--by', key, '--host', host), key))

    @unittest.skipUnless(clickhouse.PROGRAM, 'there is no clickhouse-server')
    def test_equals_the_old_engine(self):
        with clickhouse.Servers(1) as servers:
            old = servers.all[0].url
            for host, (path, began) in HOSTS.items():
                load(old, path, host, began)
            for question in (('report',), ('report', '--by', 'version,cache'), ('report', '--by', 'module'), ('report', '--by', 'directory'),
                             ('report', '--since', '2026-11-21', '--by', 'day'),
                             ('leaks', '--by', 'version,function'), ('leaks', '--by', 'host,cache'), ('traces',),
                             ('diff', '--a', 'host=web2', '--b', 'host=web1'), ('report', '--by', 'trace,order')):
                with self.subTest(question):
                    # The last digits of a sum of decimals depend on the order of the values.
                    reported = [json.dumps(rounded(fleet(url, *question)), sort_keys=True) for url in (old, self.url)]
                    self.assertEqual(*reported)

    def test_again_loading_a_trace_is_refused(self):
        path, began = HOSTS['web1']
        self.assertIn('already loaded', load(self.url, path, 'web1', began))


def rounded(value):
    """Rounds decimals to 6 significant digits, and sorts rows in an order that does not depend on decimals."""
    if isinstance(value, float):
        return float(f'{value:.6g}') if abs(value) > 1e-3 else 0.0
    if isinstance(value, list):
        return sorted((rounded(one) for one in value), key=lambda one: json.dumps(one, sort_keys=True))
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return value


if __name__ == '__main__':
    unittest.main()
