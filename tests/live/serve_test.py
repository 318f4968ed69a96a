#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks `serve` with a real Prometheus, which scrapes the metrics and answers queries about them."""
import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
import urllib.parse
import urllib.request

from recording import PIPE_LOOP, PROGRAM, LiveTest, second_try, wait_until
from stat_test import HELD_FILES, active_objects, hold_files, pinned

for folder in ('truth', 'support'):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', folder))
import schemas  # noqa: E402
from bench import Running, describe, is_named_first  # noqa: E402

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs')


def free_port():
    with socket.socket() as place:
        place.bind(('127.0.0.1', 0))
        return place.getsockname()[1]


def get(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.read().decode()
    except OSError:
        return ''


def numbers(path, separator):
    """Returns the numbers of a file with lines such as "MemTotal:   100 kB" or "compact_stall 12"."""
    with open(path, encoding='utf-8') as file:
        lines = [line.split(separator, 1) for line in file]
    return {name: int(value.split()[0]) for name, value in lines}


def cpu_time(pid):
    with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
        fields = file.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


class Webhook:
    """An HTTP server that keeps what it receives, as pairs of a path and a body."""

    def __init__(self):
        self.received = received = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                received.append((self.path, self.rfile.read(int(self.headers['Content-Length'])).decode()))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.server.server_port}'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self):
        self.server.shutdown()
        self.server.server_close()


class Serve(LiveTest):
    def serve(self, *arguments, address=None, ready='alloc_pipe_info'):
        address = address or f'127.0.0.1:{free_port()}'
        process = subprocess.Popen([PROGRAM, 'serve', '--prometheus', address, *arguments], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, encoding='utf-8')
        self.addCleanup(self.end, process)
        self.assertTrue(wait_until(lambda: ready in get(f'http://{address}/metrics'), 20))
        return process, address

    def stop_with_messages(self, process):
        process.send_signal(signal.SIGTERM)
        _, self.messages = process.communicate(timeout=60)
        return process.returncode

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        return process.returncode

    def prometheus(self, address, rules=''):
        """Starts a Prometheus that scrapes the address each second, and returns the address of the Prometheus."""
        with open(self.path('prometheus.yml'), 'w', encoding='utf-8') as file:
            file.write('global: {scrape_interval: 1s, evaluation_interval: 1s}\n' + rules +
                       'scrape_configs:\n'
                       '  - job_name: kmemtrace\n'
                       f'    static_configs: [{{targets: ["{address}"]}}]\n')
        server = f'127.0.0.1:{free_port()}'
        prometheus = subprocess.Popen(
            ['prometheus', f'--config.file={self.path("prometheus.yml")}', f'--storage.tsdb.path={self.path("data")}',
             f'--web.listen-address={server}'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, prometheus)
        return server

    def setUp(self):
        super().setUp()
        loop = subprocess.Popen([PIPE_LOOP, '100000000'], stdout=subprocess.DEVNULL)
        self.addCleanup(self.end, loop)

    def query(self, prometheus, question):
        text = get(f'http://{prometheus}/api/v1/query?' + urllib.parse.urlencode({'query': question}))
        return json.loads(text)['data']['result'] if text else []

    @unittest.skipUnless(shutil.which('prometheus') and shutil.which('promtool'), 'Prometheus is not installed')
    def test_prometheus_scrapes_it(self):
        _, address = self.serve()
        rules = os.path.join(DOCS, 'prometheus-rules.yml')
        checked = subprocess.run(['promtool', 'check', 'rules', rules], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 encoding='utf-8', check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        lint = subprocess.run(['promtool', 'check', 'metrics'], input=get(f'http://{address}/metrics'),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding='utf-8', check=False)
        self.assertNotIn('kmemtrace', lint.stdout)
        server = self.prometheus(address, f'rule_files: ["{rules}"]\n')
        question = 'rate(kmemtrace_slab_allocations_total{call_site=~"alloc_pipe_info.*"}[10s])'
        # The loop opens some hundred thousand pipes per second. The rate must be of this order, starting with the
        # second scrape that has new data.
        self.assertTrue(wait_until(lambda: any(float(found['value'][1]) > 1000 for found in self.query(server, question)),
                                   40))
        self.assertEqual(self.query(server, 'up{job="kmemtrace"}')[0]['value'][1], '1')
        rules_seen = json.loads(get(f'http://{server}/api/v1/rules'))['data']['groups']
        self.assertEqual({rule['health'] for rule in rules_seen[0]['rules']}, {'ok'})

    @unittest.skipUnless(shutil.which('promtool'), 'Prometheus is not installed')
    def test_rule_waits_for_an_hour(self):
        """An alert for growth must not fire in the first hour or for a young series, and must fire after that."""
        rules = os.path.abspath(os.path.join(DOCS, 'prometheus-rules.yml'))
        labels = 'job="k", instance="i"'

        def alerts(minute, *sites):
            found = ''.join(f'''
          - exp_labels: {{severity: warning, call_site: {site}, job: k, instance: i}}
            exp_annotations:
              summary: "{site} holds more and more kernel memory on i"
              description: "It grows by 976.6kiB a minute. Next: kmemtrace profile -d 10m --by stack,process"'''
                            for site in sites)
            return f'''
      - eval_time: {minute}m
        alertname: KernelMemoryGrows
        exp_alerts: {found or '[]'}'''

        with open(self.path('test.yml'), 'w', encoding='utf-8') as file:
            file.write(f'''
rule_files: ["{rules}"]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - series: 'kmemtrace_start_time_seconds{{{labels}}}'
        values: '0x200'
      - series: 'kmemtrace_slab_live_bytes{{call_site="old", {labels}}}'
        values: '0+1000000x200'
      - series: 'kmemtrace_slab_live_bytes{{call_site="young", {labels}}}'
        values: '_x100 0+1000000x100'
      - series: 'kmemtrace_slab_live_bytes{{call_site="steady", {labels}}}'
        values: '9000000x200'
    alert_rule_test:{alerts(50)}{alerts(70)}{alerts(100, 'old')}{alerts(150, 'old')}{alerts(190, 'old', 'young')}
''')
        done = subprocess.run(['promtool', 'test', 'rules', self.path('test.yml')], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding='utf-8', check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    @unittest.skipUnless(shutil.which('prometheus'), 'Prometheus is not installed')
    def test_every_query_of_the_dashboard_has_an_answer(self):
        _, address = self.serve()
        server = self.prometheus(address)
        with open(os.path.join(DOCS, 'grafana-dashboard.json'), encoding='utf-8') as file:
            dashboard = json.load(file)
        queries = [target['expr'] for panel in dashboard['panels'] for target in panel['targets']]
        queries += [annotation['expr'] for annotation in dashboard['annotations']['list']]
        self.assertGreater(len(queries), 15)
        served = get(f'http://{address}/metrics')
        # Only control groups of version 2 report how many were removed.
        queries = [query for query in queries if 'kmemtrace_dying_cgroups' in served or 'dying_cgroups' not in query]

        def answer(query):
            query = query.replace('$instance', address).replace('[5m]', '[10s]').replace('[1h]', '[10s]')
            for comparison in (' > 0)', ' > 0'):
                query = query.removesuffix(comparison) + (')' if query.endswith(' > 0)') else '')
            return self.query(server, query)

        for query in queries:
            with self.subTest(query):
                self.assertTrue(wait_until(lambda query=query: answer(query), 30), query)

    def test_serves_the_counters_of_the_kernel_without_bpf(self):
        """The metrics must be the numbers in /proc. Reading them must cost little."""
        process, address = self.serve('--no-bpf', ready='kmemtrace_memory_total_bytes')
        before = cpu_time(process.pid)
        scrapes = 8
        for _ in range(scrapes):
            text = get(f'http://{address}/metrics')
            time.sleep(1.05)
        used = cpu_time(process.pid) - before
        # A scrape every 15 s may use 0.1 % of a CPU. This machine runs other tests, so three times as much is allowed.
        self.assertLess(used / scrapes, 3 * 15 * 0.001)
        self.assertIn('kmemtrace_events_counted{reason="switched off with --no-bpf"} 0', text)
        self.assertNotIn('kmemtrace_slab_allocations_total', text)
        found = dict(line.rsplit(' ', 1) for line in text.splitlines() if not line.startswith('#'))
        meminfo, vmstat = numbers('/proc/meminfo', ':'), numbers('/proc/vmstat', ' ')
        self.assertEqual(float(found['kmemtrace_memory_total_bytes']), meminfo['MemTotal'] * 1024)
        uses = sum(float(value) for name, value in found.items() if name.startswith('kmemtrace_memory_bytes{'))
        self.assertEqual(uses, meminfo['MemTotal'] * 1024)
        unreclaimable = float(found['kmemtrace_slab_unreclaimable_bytes'])
        self.assertAlmostEqual(unreclaimable, meminfo['SUnreclaim'] * 1024, delta=unreclaimable / 5)
        self.assertLessEqual(float(found['kmemtrace_compaction_stalls_total']), vmstat['compact_stall'])
        with open('/proc/slabinfo', encoding='utf-8') as file:
            caches = {line.split()[0] for line in file} - {'slabinfo', '#'}
        served = {name.split('"')[1] for name in found if name.startswith('kmemtrace_slabinfo_bytes{')}
        self.assertEqual(caches, served)
        page = get(f'http://{address}/')
        self.assertIn('<a href="metrics">', page)
        self.assertIn('unaccounted memory', page)
        self.assertEqual(self.stop(process), 0)

    def test_listens_on_ipv6(self):
        address = f'[::1]:{free_port()}'
        _, address = self.serve('--no-bpf', address=address, ready='kmemtrace_build_info')
        taken = subprocess.run([PROGRAM, 'serve', '--prometheus', address], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, encoding='utf-8', timeout=20, check=False)
        self.assertEqual(taken.returncode, 2)
        self.assertIn('in use', taken.stderr)

    def test_objects_are_counted_by_cache(self):
        """The net growth of the cache filp must be that of held files, and near that of active_objs in slabinfo, which
        also counts free objects of CPUs."""
        _, address = self.serve('--top', '1000')

        def values():
            found = {}
            for line in get(f'http://{address}/metrics').splitlines():
                match = re.match(r'kmemtrace_cache_objects_(\w+)_total\{cache="filp",object_bytes="(\d+)"\} (\S+)', line)
                if match:
                    found[match[1]], found['size'] = float(match[3]), int(match[2])
            return found

        def net():
            now = values()
            return now['allocated'] - now['freed']

        if not wait_until(values, 5):
            self.skipTest('this kernel does not report the cache of an object')
        # The loop opens and closes files while the counters are read, so a reading may differ by some hundred objects.
        begin, slabinfo = net(), active_objects()['filp']
        hold_files(self)
        self.assertTrue(wait_until(lambda: abs(net() - begin - HELD_FILES) < 1000, 15), net() - begin)
        self.assertLess(abs(active_objects()['filp'] - slabinfo - HELD_FILES), 2500)
        after = values()
        for what in ('allocated', 'freed'):
            self.assertEqual(after[f'{what}_bytes'], after[what] * after['size'])

    def test_sums_by_owner_are_those_of_call_sites(self):
        _, address = self.serve('--top', '10000')
        text = get(f'http://{address}/metrics')
        sums = {key: sum(float(value) for value in re.findall(rf'^kmemtrace_{key}_allocations_total{{.*}} (\S+)$', text, re.M))
                for key in ('slab', 'module', 'subsystem', 'directory')}
        self.assertGreater(sums['slab'], 0)
        self.assertEqual({sums['slab']}, set(sums.values()), sums)
        self.assertRegex(text, r'kmemtrace_directory_allocations_total{directory="fs( \(guess\))?"}')

    def test_the_number_of_series_is_limited_and_counters_grow(self):
        process, address = self.serve('--top', '5')

        def read():
            values = {}
            for line in get(f'http://{address}/metrics').splitlines():
                match = re.match(r'kmemtrace_slab_allocations_total\{call_site="([^"]*)"\} (\S+)', line)
                if match:
                    values[match[1]] = float(match[2])
            return values

        before = read()
        self.assertLessEqual(len(before), 6)
        self.assertIn('other', before)
        self.assertTrue(wait_until(lambda: read().get('other', 0) > before['other'], 10))
        after = read()
        for name, value in before.items():
            self.assertGreaterEqual(after[name], value, name)
        pins = pinned()
        self.assertEqual(self.stop(process), 0)
        self.assertEqual(pinned(), pins)

    @second_try
    def test_investigates_when_memory_grows(self):
        """A program holds more and more pipes. The investigation must name the program, and the webhook must get the
        result. Only the latest folders of evidence must remain."""
        evidence = self.path('evidence')
        for name in ('investigation-20200101T000000Z', 'investigation-20200102T000000Z', 'other'):
            os.makedirs(os.path.join(evidence, name))
        hook = Webhook()
        self.addCleanup(hook.end)
        process = subprocess.Popen(
            [PROGRAM, 'serve', '--investigate-on', 'SUnreclaim+4M/1m', '--evidence', evidence, '--for', '12s',
             '--keep', '2', '--webhook', f'{hook.url}/alert'], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            encoding='utf-8')
        self.addCleanup(self.end, process)
        plant = Running('pipes', 'build')
        self.addCleanup(plant.end)
        self.assertTrue(wait_until(lambda: hook.received, 120))
        path, result = hook.received[0]
        self.assertEqual(path, '/alert')
        result = schemas.check(self, result)
        self.assertTrue(is_named_first(result, 'pipes', plant.process.pid), describe(result))
        self.assertEqual(self.stop_with_messages(process), 0)
        self.assertIn('Investigating, because SUnreclaim is ', self.messages)
        self.assertIn(result['words'].split('.')[0], self.messages)
        left = sorted(os.listdir(evidence))
        self.assertEqual(len(left), 3, left)
        self.assertEqual([left[0], left[2]], ['investigation-20200102T000000Z', 'other'])
        self.assertTrue(os.path.exists(os.path.join(evidence, left[1], 'index.html')))

    @second_try
    def test_waits_at_nearly_no_cost(self):
        process = subprocess.Popen([PROGRAM, 'serve', '--investigate-on', 'SUnreclaim+1T/10m', '--evidence',
                                    self.path('evidence')], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   encoding='utf-8')
        self.addCleanup(self.end, process)
        time.sleep(2)
        before = cpu_time(process.pid)
        time.sleep(10)
        self.assertLess(cpu_time(process.pid) - before, 10 * 0.005)
        self.assertEqual(self.stop_with_messages(process), 0)
        self.assertEqual(os.listdir(self.path('evidence')), [])

    def test_invalid_use_is_explained(self):
        _, address = self.serve()
        for arguments, text in ((('--prometheus', address), 'in use'), (('--prometheus', 'nowhere:x'), 'a number'),
                                (('--prometheus', 'foo'), 'no port'), (('--prometheus', ':80'), 'no address'),
                                (('--prometheus', '127.0.0.1:99999'), '65535'), (('--prometheus', '::1:9751'), 'in brackets'),
                                (('--prometheus', '[::1]'), 'no port'),
                                (('--prometheus', 'foo:9751'), 'IPv4'),
                                (('--prometheus', address, '--no-bpf', '--cgroup', '/'), '--no-bpf'),
                                (('--investigate-on', 'SUnreclaim+1M'), '--evidence'),
                                (('--investigate-on', 'failure', '--evidence', self.path('e')), 'failed allocations'),
                                (('--investigate-on', 'SUnreclaim+1M', '--evidence', self.path('e'), '--webhook', 'x'),
                                 'web server'),
                                ((), '--prometheus')):
            done = subprocess.run([PROGRAM, 'serve', *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  encoding='utf-8', timeout=20, check=False)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(text, done.stderr)


if __name__ == '__main__':
    unittest.main()
