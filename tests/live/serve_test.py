#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks `serve` with a real Prometheus, which scrapes the metrics and answers queries about them."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import unittest
import urllib.parse
import urllib.request

from recording import PIPE_LOOP, PROGRAM, LiveTest, wait_until
from stat_test import HELD_FILES, active_objects, hold_files, pinned

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


class Serve(LiveTest):
    def serve(self, *arguments):
        address = f'127.0.0.1:{free_port()}'
        process = subprocess.Popen([PROGRAM, 'serve', '--prometheus', address, *arguments], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, encoding='utf-8')
        self.addCleanup(self.end, process)
        self.assertTrue(wait_until(lambda: 'alloc_pipe_info' in get(f'http://{address}/metrics'), 20))
        return process, address

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
        with open(self.path('prometheus.yml'), 'w', encoding='utf-8') as file:
            file.write('global: {scrape_interval: 1s, evaluation_interval: 1s}\n'
                       f'rule_files: ["{rules}"]\n'
                       'scrape_configs:\n'
                       '  - job_name: kmemtrace\n'
                       f'    static_configs: [{{targets: ["{address}"]}}]\n')
        server = f'127.0.0.1:{free_port()}'
        prometheus = subprocess.Popen(
            ['prometheus', f'--config.file={self.path("prometheus.yml")}', f'--storage.tsdb.path={self.path("data")}',
             f'--web.listen-address={server}'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, prometheus)
        question = 'rate(kmemtrace_slab_allocations_total{call_site=~"alloc_pipe_info.*"}[10s])'
        # The loop opens some hundred thousand pipes per second. The rate must be of this order, starting with the
        # second scrape that has new data.
        self.assertTrue(wait_until(lambda: any(float(found['value'][1]) > 1000 for found in self.query(server, question)),
                                   40))
        self.assertEqual(self.query(server, 'up{job="kmemtrace"}')[0]['value'][1], '1')
        rules_seen = json.loads(get(f'http://{server}/api/v1/rules'))['data']['groups']
        self.assertEqual([rule['health'] for rule in rules_seen[0]['rules']], ['ok', 'ok'])

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
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(pinned(), pins)

    def test_invalid_use_is_explained(self):
        _, address = self.serve()
        for arguments, text in ((('--prometheus', address), 'in use'), (('--prometheus', 'nowhere:x'), 'a number'),
                                (('--prometheus', 'foo'), 'no port'), (('--prometheus', ':80'), 'no address'),
                                (('--prometheus', '127.0.0.1:99999'), '65535'), (('--prometheus', '[::1]:9751'), 'IPv6'),
                                (('--prometheus', 'foo:9751'), 'IPv4'),
                                ((), '--prometheus')):
            done = subprocess.run([PROGRAM, 'serve', *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  encoding='utf-8', timeout=20, check=False)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(text, done.stderr)


if __name__ == '__main__':
    unittest.main()
