#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the back ends of `stat` and `top`, which count the same load in a virtual machine at the same time. The load
also counts its events with perf.
  counting_test.py KERNEL"""
import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'support'))
import schemas  # noqa: E402
from machine import run_script  # noqa: E402

KERNEL = sys.argv.pop()
BACKENDS = ('bpf', 'hist', 'ring-buffer')
PIPE_LOOP = os.environ['PIPE_LOOP']
BYTES = ('bytes_requested', 'bytes_allocated')
PIPES = 10000
# The kernel drops an event if its first table entry is just being made, so hist triggers may lose a few events.
MOST_LOST = {'bpf': 0, 'hist': 100, 'ring-buffer': 0}


class Counting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        run_script('counting.sh', cls.out, '--kernel', KERNEL, '--timeout', '600', '--file', f'{PIPE_LOOP}:/bin/pipe_loop')

    def lines(self, name):
        with open(os.path.join(self.out, name), encoding='utf-8') as file:
            return [json.loads(line) for line in file if line.startswith('{')]

    def document(self, name):
        """Returns the document in a file that begins with lines of the load."""
        with open(os.path.join(self.out, name), encoding='utf-8') as file:
            text = file.read()
        return json.JSONDecoder().raw_decode(text[text.index('{\n'):])[0]

    def events(self, backend):
        total = self.lines(f'stat-{backend}.out')[-1]
        self.assertEqual((total['kind'], total['backend']), ('total', backend))
        self.assertLessEqual(total['lost_events'], MOST_LOST[backend])
        return {event['event']: event for event in total['events']}

    def test_events_equal_those_of_perf(self):
        with open(os.path.join(self.out, 'counts'), encoding='utf-8') as file:
            counted = json.loads(file.readlines()[1])
        for backend in BACKENDS:
            events = self.events(backend)
            missed = sum(event['missed'] for event in events.values())
            for name in ('kmalloc', 'kfree', 'kmem_cache_alloc', 'kmem_cache_free'):
                with self.subTest(backend, event=name):
                    self.assertGreaterEqual(counted[name], PIPES)
                    # The load prints its counts, which is counted here but not there.
                    self.assertAlmostEqual(events[f'kmem:{name}']['events'], counted[name],
                                           delta=200 + missed + MOST_LOST[backend])

    def test_events_and_bytes_of_all_back_ends_are_equal(self):
        exact = self.events('bpf')
        for backend in BACKENDS[1:]:
            events = self.events(backend)
            self.assertEqual(set(events), set(exact))
            for name, event in events.items():
                with self.subTest(backend, event=name):
                    # The back ends do not start and end at the same time.
                    allowed = exact[name]['missed'] + 100 + MOST_LOST[backend]
                    self.assertAlmostEqual(event['events'], exact[name]['events'], delta=allowed)
                    for key in BYTES:
                        if event[key] is not None:
                            each = exact[name][key] / max(exact[name]['events'], 1)
                            self.assertAlmostEqual(event[key], exact[name][key], delta=allowed * max(each, 8192))

    def test_caches_of_top(self):
        """kmalloc of pipe_loop allocates an array of struct pipe_buffer for each pipe, in one cache."""
        largest = {}
        for backend in BACKENDS:
            frames = self.lines(f'top-{backend}.out')
            self.assertEqual(frames[-1]['backend'], backend)
            rows = {row['name']: row for row in frames[-1]['rows']}
            name = max((row for row in rows if row.startswith('kmalloc')), key=lambda row: rows[row]['bytes_allocated'])
            largest[backend] = (name, rows[name]['events'], rows[name]['bytes_allocated'])
            if backend != 'bpf':
                self.assertIsNone(frames[-1]['slab']['live_bytes'])
        for backend in BACKENDS[1:]:
            self.assertEqual(largest[backend][0], largest['bpf'][0])
            self.assertAlmostEqual(largest[backend][1], largest['bpf'][1], delta=500)

    def test_children_are_counted(self):
        kmallocs = []
        for backend in BACKENDS:
            total = self.document(f'children-{backend}.out')
            events = {event['event']: event['events'] for event in total['events']}
            with self.subTest(backend):
                self.assertGreaterEqual(events['kmem:kmalloc'], 6000)
                kmallocs.append(events['kmem:kmalloc'])
        self.assertLess(max(kmallocs) - min(kmallocs), 100 + MOST_LOST['hist'])

    def test_processes_of_top(self):
        for backend in BACKENDS:
            frames = self.lines(f'processes-{backend}.out')
            with self.subTest(backend):
                # The shell executes the load, so the process has the name of either.
                names = {row['name'].rpartition('-')[0] for row in frames[-1]['rows']}
                self.assertTrue(names & {'sh', 'pipe_loop'}, names)
                self.assertGreaterEqual(sum(row['events'] for row in frames[-1]['rows']), 6000)

    def test_documents_match_their_schemas(self):
        for backend in BACKENDS:
            for document in self.lines(f'stat-{backend}.out') + self.lines(f'top-{backend}.out'):
                self.assertEqual(schemas.problems(document), [])


if __name__ == '__main__':
    unittest.main(verbosity=2)
