#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Validates the JSON of commands that need the running kernel against the schemas in schemas/. investigate_test.py
validates the results of investigations."""
import os
import subprocess
import sys
import unittest

from recording import PROGRAM, LiveTest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import schemas  # noqa: E402

VIEWS = schemas.load('top-1.json')['properties']['view']['enum']


class Schemas(LiveTest):
    def check(self, *arguments):
        """Returns the JSON documents that a command writes: a document, or one on each line."""
        done = subprocess.run([PROGRAM, *arguments, '--json'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                              encoding='utf-8')
        self.assertIn(done.returncode, (0, 1, 4), done.stderr)
        lines = done.stdout.splitlines()
        texts = lines if lines[0] != '{' else [done.stdout]
        with self.subTest(arguments):
            return [schemas.check(self, text) for text in texts]

    def test_list(self):
        for section in ((), ('events',), ('clocks',), ('limits',)):
            self.check('list', *section)

    def test_counts_and_samples(self):
        self.assertEqual('total', self.check('stat', '-d', '300ms')[-1]['kind'])
        self.assertEqual('interval', self.check('stat', '--interval', '100ms', '-d', '300ms')[0]['kind'])
        for view in VIEWS:
            documents = self.check('top', '--view', view, '--interval', '200ms', '-n', '2')
            self.assertEqual([view, view], [document['view'] for document in documents])
        for options in ((), ('--of', 'both', '--by', 'stack,process')):
            self.check('profile', '-d', '500ms', *options)

    def test_states(self):
        self.check('snapshot', '--pages')
        series = os.path.join(self.directory, 'series.kmt')
        subprocess.run([PROGRAM, 'snapshot', '--every', '100ms', '--for', '2500ms', '-o', series], check=True)
        for command in ('leaks', 'report', 'timeline'):
            self.assertEqual('kmemtrace.series/1', self.check(command, series)[0]['schema'])

    def test_plan_of_an_investigation(self):
        self.assertIn('plan', self.check('investigate', '--dry-run')[0])

    def test_recording(self):
        self.load()
        self.record('--duration', '1s', '--stacks')
        for command in ('report', 'leaks', 'timeline', 'pages', 'simulate', 'check'):
            self.check(command, self.trace)


if __name__ == '__main__':
    unittest.main(verbosity=2)
