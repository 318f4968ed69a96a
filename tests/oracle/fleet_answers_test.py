#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests `fleet` with a server that is not ClickHouse or is hostile. For each answer the command must report an error
and exit with 2."""
import concurrent.futures
import http.server
import json
import os
import socket
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from kmemtrace import data, run  # noqa: E402

SETTINGS = b'output_format_json_quote_64bit_integers\n'
SUMMARY = [[1, 1, ['6.1.0'], 2_000_000_000, 10, 0, 1795263194, 1795263194, 0]]
LEAK = ['slab', 'alloc_pipe_info', 1, 1, 1, 1, 5, 3200, 0, 320, 1600.0, 1440.0, None]
SCHEMA = b'{"data": [[1000]]}'  # newer than all schema versions


class Server(http.server.BaseHTTPRequestHandler):
    summary = json.dumps({'data': SUMMARY}).encode()
    rows = b''

    def do_POST(self):  # noqa: N802
        question = self.rfile.read(int(self.headers['Content-Length'])).decode()
        body = (SETTINGS if 'system.settings' in question else SCHEMA if 'schema_versions' in question else
                self.rows if 'of_host' in question else self.summary)
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Answers(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Server)
        thread = threading.Thread(target=self.server.serve_forever)
        thread.start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(self.server.shutdown)

    def ask(self, rows, *options, megabytes=None):
        Server.rows = rows if isinstance(rows, bytes) else json.dumps({'data': rows}).encode()
        return run('fleet', 'leaks', '--server', f'http://127.0.0.1:{self.server.server_port}', '--retry', '0s', *options,
                   megabytes=megabytes)

    def test_retries_until_the_time_is_over(self):
        """Requests must be repeated until the time given with --retry is over, even if the next pause would end
        later."""
        asked = []

        class Busy(http.server.BaseHTTPRequestHandler):
            def do_POST(self):  # noqa: N802
                asked.append(time.monotonic())
                self.rfile.read(int(self.headers['Content-Length']))
                self.send_error(503)

            def log_message(self, *arguments):
                pass

        self.server.RequestHandlerClass = Busy
        began = time.monotonic()
        done = run('fleet', 'report', '--server', f'http://127.0.0.1:{self.server.server_port}', '--retry', '1s')
        self.assertEqual(2, done.returncode)
        self.assertIn('cannot answer now', ' '.join(done.stderr.split()))
        self.assertGreater(len(asked), 1)
        self.assertGreaterEqual(asked[-1] - began, 0.9)

    def test_expected_answers(self):
        done = self.ask([LEAK], '--json')
        self.assertEqual((0, ''), (done.returncode, done.stderr))
        row = json.loads(done.stdout)['groups']['slab']['rows'][0]
        self.assertEqual((3200, 320, 1600.0, 1440.0, None),
                         (row['live_bytes'], row['unseen_bytes'], row['growth_bytes_per_s'], row['sure_growth_bytes_per_s'],
                          row['deviation_bytes_per_s']))

    def test_other_answers(self):
        whole = json.dumps({'data': [LEAK] * 50}).encode()
        for name, rows, words in (
                ('cut off', whole[:-40], 'is not a JSON table'), ('no JSON', b'<html>\x1b[2J</html>', 'is not a JSON table'),
                ('nothing', b'', 'is not a JSON table'), ('an object', [{'allocator': 'slab'}], 'is not a JSON table'),
                ('deep', b'[' * 1_000_000, 'is not a JSON table'),
                ('a deep cell', b'{"data": [["slab", ' + b'[' * 1_000_000 + b']' * 1_000_000 + b']]}', 'is not a JSON table'),
                ('an array for a text', [LEAK[:1] + [[[['x']]]] + LEAK[2:]], 'an array in column 2'),
                ('a number for a text', [LEAK[:1] + [7] + LEAK[2:]], 'not a text'),
                ('a text for a number', [LEAK[:2] + ['7 '*20] + LEAK[3:]], 'not a number'), ('huge', [LEAK[:6] + [2 ** 63] + LEAK[7:]], '64-bit number'),
                ('columns are missing', [LEAK[:9]], 'too few columns: 9'), ('an unknown allocator', [['\x1b[2J' * 1000] + LEAK[1:]], 'has an allocator')):
            with self.subTest(name):
                done = self.ask(rows)
                self.assertEqual(2, done.returncode, done.stderr)
                self.assertIn(words, done.stderr.replace('\n', ' '))
                self.assertNotIn('\x1b', done.stderr)
                self.assertLess(len(done.stderr), 2000)
                self.assertEqual('', done.stdout)

    def test_too_much(self):
        """An answer that is larger than memory must be cut at a limit that is larger than any real answer."""
        for rows, words in ((b' ' * (129 << 20), 'larger than 128 MiB'), (b'{"data": [[0' + b',0' * (9 << 20), 'more than 8 million values')):
            done = self.ask(rows)
            self.assertEqual(2, done.returncode)
            self.assertIn(words, done.stderr)

    def test_much(self):
        """Rows must not be copied in memory: the memory limit of this test leaves no room for a second copy."""
        done = self.ask(b'{"data": [' + b'[],' * (4 << 20) + b'[]]}', megabytes=450)
        self.assertEqual(2, done.returncode)
        self.assertIn('too few columns: 0', done.stderr)

    def test_no_answer(self):
        """A server that never answers: the kernel accepts connections, but no data arrives."""
        silent = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(silent.close)
        url = f'http://127.0.0.1:{silent.getsockname()[1]}'
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor() as threads:
            commands = [threads.submit(run, *command, '--retry', '0s') for command in (
                ('fleet', 'traces', '--server', url),
                ('export', data('amd64/trace.dat'), '--to', 'clickhouse', url, '--host', 'a', '--recorded-at', '2026-11-20'))]
            for done in [command.result() for command in commands]:
                self.assertEqual(2, done.returncode, done.stderr)
                self.assertIn('it accepts the connection, but does not answer within 10 s', done.stderr.replace('\n', ' '))
        self.assertLess(time.monotonic() - began, 50)


if __name__ == '__main__':
    unittest.main(verbosity=2)
