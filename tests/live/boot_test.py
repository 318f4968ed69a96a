#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests record --boot on a kernel that was not traced from boot. The command prints the kernel parameters, and
collects an instance that this test creates as trace_instance= would create it."""
import collections
import os
import re
import subprocess
import unittest

from recording import INSTANCES, PIPE_LOOP, PROGRAM, TRACEFS, LiveTest, events_of, kernel_statistics, lost_in

INSTANCE = f'{INSTANCES}/kmemtrace_boot'
EVENTS = ('kmalloc', 'kfree')


def write(name, text):
    with open(f'{INSTANCE}/{name}', 'w', encoding='ascii') as file:
        file.write(text)


def read(name):
    with open(f'{INSTANCE}/{name}', encoding='utf-8', errors='replace') as file:
        return file.read()


class Boot(LiveTest):
    def setUp(self):
        super().setUp()
        if os.path.exists(INSTANCE):
            self.skipTest('this boot was traced')

    def boot(self, *options):
        """Runs record --boot and returns its output on stdout and stderr."""
        done = subprocess.run([PROGRAM, 'record', '--boot', '-o', self.trace, *options], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding='utf-8', timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def make_instance(self, kilobytes=8192, **options):
        os.mkdir(INSTANCE)
        self.addCleanup(self.remove_instance)
        write('buffer_size_kb', str(kilobytes))
        for option, value in options.items():
            write(f'options/{option}', value)
        write('trace_clock', 'mono')
        for event in EVENTS:
            write(f'events/kmem/{event}/enable', '1')
        subprocess.run([PIPE_LOOP, '2000'], stdout=subprocess.DEVNULL, check=True)
        write('tracing_on', '0')

    @staticmethod
    def remove_instance():
        if os.path.exists(INSTANCE):
            os.rmdir(INSTANCE)

    def test_prints_parameters(self):
        out, err = self.boot('-b', '3M')
        self.assertIn('was not traced', err)
        self.assertFalse(os.path.exists(self.trace))
        lines = [line for line in out.splitlines() if not line.startswith('#')]
        self.assertEqual(len(lines), 1, out)
        parameters = dict(word.split('=', 1) for word in lines[0].split())
        self.assertEqual(parameters['trace_buf_size'], '3M')
        with open(f'{TRACEFS}/available_events', encoding='ascii') as file:
            known = set(file.read().split())
        named = parameters['trace_event'].split(',')
        self.assertIn('kmem:kfree', named)
        self.assertEqual(set(named) - known, set())

    def test_collects_every_event(self):
        self.make_instance()
        shown = collections.Counter(re.findall(r' (kmalloc|kfree): ', read('trace')))
        self.assertGreater(shown['kmalloc'], 1000)
        _, err = self.boot()
        self.assertIn(INSTANCE, err)
        self.assertIn('Nothing was lost', err)
        self.assertEqual(collections.Counter(event.name for event in events_of(self.trace)), shown)
        self.assertFalse(os.path.exists(INSTANCE), 'the buffer is not freed')

    def test_counts_what_a_full_buffer_dropped(self):
        self.make_instance(kilobytes=64, overwrite='0')
        stats = [read(f'per_cpu/{cpu}/stats') for cpu in os.listdir(f'{INSTANCE}/per_cpu')]
        dropped = sum(int(re.search(r'dropped events: (\d+)', text)[1]) for text in stats)
        kept = sum(int(re.search(r'entries: (\d+)', text)[1]) for text in stats)
        self.assertGreater(dropped, 0)
        _, err = self.boot()
        self.assertIn(f'{dropped:,} events were lost', err)
        self.assertEqual(len(events_of(self.trace)), kept)
        self.assertEqual(lost_in(kernel_statistics(self.trace)), dropped)

    def test_kmt_and_trace_dat_agree(self):
        self.make_instance()
        self.trace = os.path.join(self.directory, 'trace.kmt')
        shown = len(re.findall(r' (?:kmalloc|kfree): ', read('trace')))
        self.boot()
        checked = subprocess.run([PROGRAM, 'check', self.trace], stdout=subprocess.PIPE, encoding='utf-8', check=True)
        self.assertRegex(checked.stdout, rf'events +{shown:,}\n')
        self.assertIn('clock mono', checked.stdout)


if __name__ == '__main__':
    unittest.main()
