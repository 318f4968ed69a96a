#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the estimates of `profile` with an exact trace of the same workload: its intervals must contain the true
value as often as stated. Also checks that pprof reads the files."""
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from kmt_events import kmt_decoder
from recording import PIPE_LOOP, PROGRAM, LiveTest, begin_loop, second_try, wait_until
from stat_test import bpf_files, check_held_files, hold_files, pinned

ROUNDS = 12


class Profile(LiveTest):
    def profile(self, *arguments):
        process = subprocess.Popen([PROGRAM, 'profile', *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   encoding='utf-8')
        self.addCleanup(self.end, process)
        return process

    def result(self, *arguments):
        process = self.profile('--json', *arguments)
        output, messages = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, messages)
        return json.loads(output)

    @second_try
    def test_intervals_contain_the_values_of_an_exact_trace(self):
        """Profiles a loop at a high sampling rate; each run has new random numbers."""
        held = {'objects': 0, 'bytes': 0}
        for _ in range(ROUNDS):
            done = self.result('--rate', '16K', '--', 'sh', '-c', f'exec {PIPE_LOOP} 3000 >&2')
            counted = json.loads(subprocess.run([PROGRAM, 'stat', '--json', '--', 'sh', '-c', f'exec {PIPE_LOOP} 3000 >&2'],
                                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout)
            exact = {'objects': 0, 'bytes': 0}
            for event in counted['events']:
                if event['event'] in ('kmem:kmalloc', 'kmem:kmem_cache_alloc'):
                    exact['objects'] += event['events'] - event['failed']
                    exact['bytes'] += event['bytes_allocated']
            for name, truth in exact.items():
                estimate = done['slab'][name]
                # exec and interrupts allocate different amounts in the two runs of the loop.
                held[name] += estimate['low'] * 0.99 <= truth <= estimate['high'] * 1.01
        # An interval contains the true value in 95 % of runs. So this check of 12 runs fails by chance once in 450
        # times. heap_profile_test.cpp has many runs with fixed seeds.
        for name, count in held.items():
            self.assertGreaterEqual(count, ROUNDS - 3, name)

    def test_estimates_live_memory(self):
        """The live memory estimated for a process with open pipes must match the memory of these pipes."""
        code = ('import os, time\n'
                'held = [os.pipe() for _ in range(400)]\n'
                'print("held", flush=True)\n'
                'time.sleep(60)\n')
        process = self.profile('--json', '--rate', '1K', '--by', 'cache', '--', 'python3', '-c', code)
        self.assertTrue(wait_until(lambda: 'held' in process.stdout.readline(), 20))
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        output, messages = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0, messages)
        result = json.loads(output)
        # Each pipe has a kmalloc object with sixteen struct pipe_buffer of 40 bytes, and two files.
        rings = sum(row['live_objects']['estimate'] for row in result['rows']
                    if re.match(r'kmalloc, (640 B|1.0 KiB)', row['keys']['cache']))
        files = next(row for row in result['rows'] if row['keys']['cache'] == 'filp')['live_objects']
        # About half of these objects are sampled, so the standard error is 22 objects.
        self.assertGreater(rings, 300)
        self.assertLess(rings, 600)
        # The interval misses the truth in one of twenty runs. An interval of twice the width misses it in one of ten
        # thousand.
        width = files['high'] - files['low']
        self.assertLess(files['low'] - width / 2, 810)
        self.assertGreater(files['high'] + width / 2, 800)

    def test_objects_are_counted_by_cache(self):
        process = self.profile('--json')
        programs = 4  # for allocations and frees of slab objects
        self.assertTrue(wait_until(lambda: sum('link' in name for name in bpf_files(process.pid)) >= programs))
        time.sleep(2)  # it reads how many objects there are at its start
        hold_files(self)
        process.send_signal(signal.SIGINT)
        output, messages = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0, messages)
        check_held_files(self, json.loads(output)['caches'])
        self.assertIsNone(self.result('-d', '100ms', '--of', 'pages')['caches'])

    def test_saved_profile(self):
        """A .kmt profile must show the values that were printed when it was recorded, and must match the
        specification of the format."""
        path = self.path('heap.kmt')
        process = self.profile('--rate', '4K', '--json', '--of', 'both', '-o', path, '--', 'sh', '-c',
                               f'exec {PIPE_LOOP} 2000 >&2')
        output, messages = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, messages)
        printed = json.loads(output)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)  # the file has kernel code addresses
        shown = self.show(path, '--json')
        self.assertEqual(json.loads(shown.stdout), printed)
        self.assertTrue(any(row['keys']['stack'] != 'unknown' for row in
                            json.loads(self.show(path, '--json', '--by', 'stack,cgroup').stdout)['rows']))

        with open(path, 'rb') as file:
            kept = kmt_decoder.File(file.read())
        self.assertEqual(kept.profile_facts['mean_bytes'], '4096')
        self.assertEqual(kept.profile_facts['of'], 'slab pages')
        for pages, name in ((False, 'slab'), (True, 'pages')):
            sizes = [size for group in kept.profile_groups if group.pages == pages for size in group.sizes]
            self.assertEqual(sum(drawn for _, _, drawn, _ in sizes), printed[name]['samples'])
            self.assertEqual(sum(live for _, _, _, live in sizes), printed[name]['live_samples'])
        symbols = kept.facts['kallsyms'].decode()
        self.assertLess(len(symbols), 200_000)
        self.assertIn('alloc_pipe_info', symbols)

        done = self.show(path, '-o', self.path('heap.pb.gz'))
        self.assertEqual(done.returncode, 0, done.stderr)
        with gzip.open(self.path('heap.pb.gz')) as file:
            self.assertIn(b'alloc_pipe_info', file.read())
        for command in ('report', 'check'):
            done = subprocess.run([PROGRAM, command, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8')
            self.assertEqual(done.returncode, 2)
            self.assertIn('profile --show', done.stderr)
        with open(path, 'rb') as file, open(self.path('cut.kmt'), 'wb') as cut:
            cut.write(file.read()[:-40])
        done = self.show(self.path('cut.kmt'))
        self.assertEqual(done.returncode, 2)
        self.assertIn('damaged', done.stderr)

    @staticmethod
    def show(path, *options):
        return subprocess.run([PROGRAM, 'profile', '--show', path, *options], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding='utf-8')

    @unittest.skipUnless(shutil.which('go'), 'go is not installed')
    def test_pprof_reads_it(self):
        path = self.path('heap.pb.gz')
        process = self.profile('--rate', '8K', '-o', path, '--', 'sh', '-c', f'exec {PIPE_LOOP} 3000 >&2')
        _, messages = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, messages)
        environment = dict(os.environ, HOME=self.directory)
        for kind in ('alloc_objects', 'alloc_space', 'inuse_objects', 'inuse_space'):
            done = subprocess.run(['go', 'tool', 'pprof', '-top', '-cum', f'-sample_index={kind}', path], check=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8', env=environment)
            self.assertIn(f'Type: {kind}', done.stdout)
            if kind == 'alloc_space':
                self.assertRegex(done.stdout, r'alloc_pipe_info|create_pipe_files')
        tags = subprocess.run(['go', 'tool', 'pprof', '-tags', path], check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding='utf-8', env=environment).stdout
        self.assertIn('cache:', tags)
        self.assertIn('pipe_loop', tags)

    def test_continuous_files(self):
        folder = self.path('heap')
        os.mkdir(folder)
        process = self.profile('--continuous', folder, '--every', '1s', '--keep', '2')
        self.assertTrue(wait_until(lambda: len(os.listdir(folder)) >= 2, 20))
        time.sleep(1.5)
        self.assertTrue(bpf_files(process.pid))
        before = pinned()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(pinned(), before)
        names = sorted(os.listdir(folder))
        self.assertEqual(len(names), 2, names)
        for name in names:
            self.assertRegex(name, r'^kmemtrace-heap-\d{8}T\d{6}Z\.pb\.gz$')

    def test_continuous_files_cover_only_their_time(self):
        """Each file must start where the previous one ended and report only its own cost. Existing files must not be
        replaced."""
        folder = self.path('heap')
        os.mkdir(folder)
        for second in range(int(time.time()), int(time.time()) + 4):
            name = time.strftime('kmemtrace-heap-%Y%m%dT%H%M%SZ.kmt', time.gmtime(second))
            with open(f'{folder}/{name}', 'w', encoding='ascii') as file:
                file.write('old')
        process = self.profile('--continuous', folder, '--every', '1s', '--format', 'kmt', '-d', '3500ms')
        _, messages = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0, messages)
        names = sorted(os.listdir(folder))
        self.assertEqual(len([name for name in names if os.path.getsize(f'{folder}/{name}') == 3]), 4)
        kept = [json.loads(self.show(f'{folder}/{name}', '--json').stdout) for name in names
                if os.path.getsize(f'{folder}/{name}') > 3]
        kept.sort(key=lambda profile: profile['start_unix_ns'])
        self.assertGreaterEqual(len(kept), 3)
        for before, after in zip(kept, kept[1:]):
            gap = after['start_unix_ns'] - before['start_unix_ns'] - before['duration_ns']
            self.assertLess(abs(gap), 1_000_000)
        # The first file includes the cost of loading the programs and reading kallsyms.
        self.assertLess(kept[1]['own_cpu_ns'], kept[0]['own_cpu_ns'])

    def test_ends_with_the_process(self):
        """Both commands must end when the process ends."""
        for command in ('profile', 'top'):
            loop = begin_loop(10)
            self.addCleanup(self.end, loop)
            watcher = subprocess.Popen([PROGRAM, command, '--json', '-p', str(loop.pid)], stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, encoding='utf-8')
            self.addCleanup(self.end, watcher)
            self.assertTrue(wait_until(lambda: bpf_files(watcher.pid)))
            loop.communicate('go\n', timeout=20)
            output, messages = watcher.communicate(timeout=20)
            self.assertEqual(watcher.returncode, 0, messages)
            self.assertEqual(json.loads(output.splitlines()[-1] if command == 'top' else output)['selection'],
                             f'process {loop.pid}')

    def test_invalid_use_is_explained(self):
        for arguments, text in ((('--rate', '0'), '--rate'), (('--by', 'colour'), 'not a key'),
                                (('-o', self.path('x.txt')), 'pb.gz'),
                                (('--continuous', self.directory, '--every', '200ms'), '--every'),
                                (('--every', '2s'), '--continuous'), (('-o', '/nosuch/x.kmt'), '/nosuch/x.kmt'), (('--continuous', '/nonexistent'), 'folder')):
            process = self.profile('-d', '100ms', *arguments)
            _, messages = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 2, messages)
            self.assertIn(text, messages)
            self.assertNotIn('unfinished', messages)


if __name__ == '__main__':
    unittest.main()
