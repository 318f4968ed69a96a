#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests `stat`, `top`, `profile` and `record` without the kernel's own BTF (`--btf`), and `stat` and `top` without BPF
(`--backend`). Both are compared with the kernel's own BTF and with BPF programs on the same load."""
import json
import os
import shutil
import signal
import subprocess
import unittest

from recording import PIPE_LOOP, PROGRAM, LiveTest, begin_loop, instances_of, wait_until

BTF = '/sys/kernel/btf/vmlinux'
# Hides the kernel's BTF from one command.
HIDE = 'mount -t tmpfs none /sys/kernel/btf && exec "$@"'
EVENTS = ('kmalloc', 'kfree', 'kmem_cache_alloc', 'kmem_cache_free')


def hidden(*command):
    return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', HIDE, 'sh', *command]


def missed_by(frame):
    """Returns how many allocations a frame of `top` says are missing in it."""
    return frame['losses']['allocations_missed'] + frame['losses']['merged_events']


class Backends(LiveTest):
    def popen(self, command):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8')
        self.addCleanup(self.end, process)
        return process

    def copied_btf(self):
        if not os.path.exists(BTF):
            self.skipTest('this kernel does not describe its types')
        copy = self.path('types')
        shutil.copyfile(BTF, copy)
        return copy

    def count_together(self, *commands):
        """Runs commands with -p for a load of 20,000 pipes. Returns the last JSON line of each, and the load's counts."""
        loop = begin_loop(20000)
        self.addCleanup(self.end, loop)
        processes = [self.popen([*command, '-p', str(loop.pid)]) for command in commands]
        for process in processes:
            self.assertTrue(process.stdout.readline(), process.args)  # the first interval has ended: it counts
        loop.stdin.write('go\n')
        loop.stdin.flush()
        counted = json.loads(loop.stdout.readline())
        results = []
        for process in processes:
            process.send_signal(signal.SIGINT)
            output, messages = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 0, messages)
            results.append(json.loads(output.splitlines()[-1]))
        return results, counted

    def check_counts(self, result, counted):
        events = {event['event']: event for event in result['events']}
        missed = sum(event['missed'] for event in events.values())
        for name in EVENTS:
            self.assertGreaterEqual(counted[name], 20000)
            # The load prints its counts, which is counted here but not there.
            self.assertAlmostEqual(events[f'kmem:{name}']['events'], counted[name], delta=100 + missed, msg=name)
        return events

    def test_stat_with_types_in_a_file(self):
        stat = [PROGRAM, 'stat', '--json', '--interval', '200ms']
        [own, other], counted = self.count_together(stat, hidden(*stat, '--btf', self.copied_btf()))
        self.assertEqual(other['backend'], 'bpf')
        self.assertIsNone(other['caches'])
        own, other = (self.check_counts(result, counted) for result in (own, other))
        for name, event in own.items():
            for key in ('bytes_requested', 'bytes_allocated'):
                if event[key] is not None:
                    self.assertAlmostEqual(other[name][key], event[key], delta=(100 + event['missed']) * 8192, msg=name)

    def test_top_with_types_in_a_file(self):
        top = [PROGRAM, 'top', '--json', '--interval', '300ms']
        frames, counted = self.count_together(top, hidden(*top, '--btf', self.copied_btf()))
        allocations = counted['kmalloc'] + counted['kmem_cache_alloc']
        for frame in frames:
            self.assertIsNotNone(frame['slab']['live_bytes'])
            self.assertAlmostEqual(sum(row['events'] for row in frame['rows']), allocations, delta=500 + missed_by(frame))

    def test_profile_and_record_with_types_in_a_file(self):
        copy = self.copied_btf()
        loop = ['--', PIPE_LOOP, '5000']
        done = subprocess.run(hidden(PROGRAM, 'profile', '--btf', copy, '--json', '--rate', '4K', '-o', self.path('p.json'),
                                     *loop), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding='utf-8', check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path('p.json'), encoding='utf-8') as file:
            profile = json.load(file)
        self.assertGreater(profile['slab']['bytes']['high'], 5000 * 1000)  # each pipe has buffers of 1 KiB
        done = subprocess.run(hidden(PROGRAM, 'record', '--backend', 'bpf', '--btf', copy, '-F', '-o', self.trace, *loop),
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding='utf-8', check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = subprocess.run([PROGRAM, 'report', '--json', self.trace], stdout=subprocess.PIPE, check=True).stdout
        self.assertGreaterEqual(json.loads(shown)['slab']['allocations'], 10000)

    def test_refuses_types_of_another_kernel(self):
        copy = self.copied_btf()
        other = self.path('4.15.0-55-generic.btf')
        os.rename(copy, other)
        for arguments, message in ((['--btf', other], 'its name has the release 4.15.0-55-generic'),
                                   (['--btf', PROGRAM], 'Cannot read types'),
                                   (['--btf', self.directory], 'This folder has no types of this kernel')):
            done = subprocess.run([PROGRAM, 'stat', '-d', '100ms', *arguments], stderr=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, encoding='utf-8', check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(message, done.stderr)

    def test_types_for_probes_need_no_note_about_programs(self):
        messages = self.record('--btf', self.copied_btf(), '--', 'true')
        self.assertNotIn('BPF programs', messages)

    def test_states_that_proc_is_not_mounted(self):
        hide = 'for at in /sys/kernel/debug /sys/kernel/tracing; do umount -R $at; done 2>/dev/null; umount -l /proc; exec "$@"'
        done = subprocess.run(['unshare', '--mount', 'sh', '-c', hide, 'sh', PROGRAM, 'record', '-o', self.trace, '--', 'true'],
                              stderr=subprocess.PIPE, encoding='utf-8', check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn('/proc is not mounted', done.stderr)

    def back_ends(self):
        has_hist = os.path.exists('/sys/kernel/tracing/events/kmem/kmalloc/hist')
        return ['ring-buffer'] + (['hist'] if has_hist else [])

    def test_stat_without_bpf(self):
        for backend in self.back_ends():
            stat = [PROGRAM, 'stat', '--json', '--interval', '200ms', '--backend']
            [exact, result], counted = self.count_together([*stat, 'bpf'], [*stat, backend])
            self.assertEqual((result['backend'], result['lost_events']), (backend, 0))
            exact, events = (self.check_counts(one, counted) for one in (exact, result))
            self.assertEqual(set(events), set(exact))
            for name in ('kmem:kmalloc', 'kmem:kmem_cache_alloc', 'kmem:mm_page_alloc'):
                for key in ('bytes_requested', 'bytes_allocated'):
                    self.assertAlmostEqual(events[name][key], exact[name][key],
                                           delta=(100 + exact[name]['missed']) * 8192, msg=name)

    def test_top_without_bpf(self):
        for backend in self.back_ends():
            for view in ('call-sites', 'processes', 'modules'):
                top = [PROGRAM, 'top', '--json', '--interval', '300ms', '--view', view, '--backend']
                [exact, frame], _ = self.count_together([*top, 'bpf'], [*top, backend])
                self.assertEqual(frame['backend'], backend)
                self.assertIsNone(frame['slab']['live_bytes'])
                rows = {row['name']: row['events'] for row in frame['rows']}
                for row in exact['rows']:
                    if row['events'] > 1000:
                        self.assertAlmostEqual(rows.get(row['name'], 0), row['events'], delta=300 + missed_by(exact),
                                               msg=row['name'])

    def test_only_bpf_has_stacks(self):
        done = subprocess.run([PROGRAM, 'top', '-n', '1', '--view', 'stacks', '--backend', 'ring-buffer'],
                              stderr=subprocess.PIPE, encoding='utf-8', check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn('--view stacks needs --backend bpf', done.stderr)

    def test_without_btf_another_back_end_is_used(self):
        if not os.path.exists(BTF):
            self.skipTest('this kernel does not describe its types')
        done = subprocess.run(hidden(PROGRAM, 'stat', '-d', '300ms', '--json'), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding='utf-8', check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(json.loads(done.stdout)['backend'], ('hist', 'ring-buffer'))
        self.assertIn('is used instead', done.stderr)

    def test_no_instance_is_left(self):
        for backend in self.back_ends():
            for number in (signal.SIGINT, signal.SIGKILL):
                process = self.popen([PROGRAM, 'stat', '--backend', backend])
                self.assertTrue(wait_until(lambda: instances_of(process.pid)))  # pylint: disable=cell-var-from-loop
                process.send_signal(number)
                process.wait(timeout=20)
                self.assertTrue(wait_until(lambda: not instances_of(process.pid)), (backend, number))


if __name__ == '__main__':
    unittest.main(verbosity=2)
