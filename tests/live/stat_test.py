#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that `stat` and perf stat count the same events for the same process and time."""
import json
import os
import resource
import shutil
import signal
import subprocess
import unittest

from recording import PIPE_LOOP, PROGRAM, LiveTest, begin_loop, wait_until

EVENTS = ('kmalloc', 'kfree', 'kmem_cache_alloc', 'kmem_cache_free', 'mm_page_alloc', 'mm_page_free')


def bpf_files(pid):
    """Returns the BPF objects that a process has open."""
    found = []
    for fd in os.listdir(f'/proc/{pid}/fd'):
        try:
            target = os.readlink(f'/proc/{pid}/fd/{fd}')
        except FileNotFoundError:  # closed since it was listed
            continue
        if 'bpf' in target:
            found.append(target)
    return found


def pinned():
    return sorted(os.listdir('/sys/fs/bpf')) if os.path.isdir('/sys/fs/bpf') else []


HELD_FILES = 10_000


def hold_files(test):
    """Opens eventfds until the test ends. Each has an object of the cache filp."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = HELD_FILES + 100
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, limit), max(hard, limit)))
    test.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
    for _ in range(HELD_FILES):
        test.addCleanup(os.close, os.eventfd(0))


def check_held_files(test, caches):
    """Compares the counts of caches with the files of hold_files(), and with slabinfo."""
    if caches is None:
        test.skipTest('this kernel does not report the cache of an object')
    files = next(cache for cache in caches if cache['name'] == 'filp')
    test.assertLess(abs(files['net_objects'] - HELD_FILES), 1000)  # other programs open and close files meanwhile
    test.assertEqual(files['net_bytes'], files['net_objects'] * files['object_bytes'])
    # active_objs in slabinfo also counts free objects of CPUs.
    test.assertLess(abs(files['slabinfo_objects'] - files['net_objects']), 2000)


def active_objects():
    """Returns active_objs of each cache in /proc/slabinfo."""
    with open('/proc/slabinfo', encoding='ascii') as file:
        return {line.split()[0]: int(line.split()[1]) for line in file.readlines()[2:]}


class Stat(LiveTest):
    def stat(self, *arguments, **options):
        process = subprocess.Popen([PROGRAM, 'stat', *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   encoding='utf-8', **options)
        self.addCleanup(self.end, process)
        return process

    def result(self, *arguments):
        process = self.stat('--json', *arguments)
        output, messages = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, messages)
        return json.loads(output)

    def test_agrees_with_perf_stat_exactly(self):
        loop = begin_loop(20000)
        self.addCleanup(self.end, loop)
        perf = self.perf_stat(loop.pid, '-e', ','.join(f'kmem:{name}' for name in EVENTS))
        stat = self.stat('--json', '--interval', '100ms', '-p', str(loop.pid))
        stat.stdout.readline()  # the first interval has ended: stat counts
        loop.stdin.write('go\n')
        loop.stdin.flush()
        counted = json.loads(loop.stdout.readline())
        self.assertGreaterEqual(counted['kmalloc'], 20000)
        for process in (perf, stat):
            process.send_signal(signal.SIGINT)
        output, messages = stat.communicate(timeout=20)
        self.assertEqual(stat.returncode, 0, messages)
        perf.wait(timeout=20)
        total = json.loads(output.splitlines()[-1])
        self.assertEqual(total['kind'], 'total')
        seen = {event['event']: event['events'] for event in total['events']}
        missed = sum(event['missed'] for event in total['events'])
        with open(self.path('perf.csv'), encoding='utf-8') as file:
            exact = {fields[2]: int(fields[0]) for fields in (line.split(',') for line in file)
                     if len(fields) > 2 and fields[2].startswith('kmem:')}
        self.assertEqual(set(exact), {f'kmem:{name}' for name in EVENTS})
        for name, count in exact.items():
            self.assertLessEqual(abs(seen[name] - count), missed, name)

    def test_bytes_equal_those_of_a_trace(self):
        """1000 additional pipes must add their events and bytes to the counts."""
        grown = []
        for pipes in ('1000', '2000'):
            result = self.result('-d', '20s', '--', 'sh', '-c', f'{PIPE_LOOP} {pipes} >&2')
            grown.append({event['event']: event for event in result['events']})
        for name in ('kmem:kmalloc', 'kmem:kmem_cache_alloc'):
            more = {key: grown[1][name][key] - grown[0][name][key]
                    for key in ('events', 'bytes_requested', 'bytes_allocated')}
            self.assertGreaterEqual(more['events'], 990, name)
            self.assertGreater(more['bytes_requested'], 0, name)
            self.assertGreaterEqual(more['bytes_allocated'], more['bytes_requested'], name)

    def test_objects_are_counted_by_cache(self):
        process = self.stat('--json', '--interval', '100ms')
        process.stdout.readline()  # the first interval has ended: stat counts
        hold_files(self)
        process.send_signal(signal.SIGINT)
        output, messages = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0, messages)
        total = json.loads(output.splitlines()[-1])
        check_held_files(self, total['caches'])
        events = {event['event']: event['events'] for event in total['events']}
        allocated = sum(cache['allocations'] for cache in total['caches'])
        # Large kmallocs are in no cache. The counters are read one after the other, so their sums differ slightly.
        self.assertLess(abs(events['kmem:kmalloc'] + events['kmem:kmem_cache_alloc'] - allocated), 300)
        self.assertEqual(total['uncounted_objects'], 0)

    @unittest.skipUnless(shutil.which('unshare'), 'unshare is not installed')
    def test_objects_without_slabinfo(self):
        """If slabinfo cannot be read, the kernel's iterator over slab caches must give the same numbers."""
        hide = 'mount --bind /dev/null /proc/slabinfo && exec "$@"'
        process = subprocess.Popen(['unshare', '-m', 'sh', '-c', hide, 'sh', PROGRAM, 'stat', '--json', '--interval', '100ms'],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8')
        self.addCleanup(self.end, process)
        if not process.stdout.readline():
            self.skipTest(process.stderr.read())
        before = active_objects()
        hold_files(self)
        process.send_signal(signal.SIGINT)
        output, messages = process.communicate(timeout=20)
        after = active_objects()
        self.assertEqual(process.returncode, 0, messages)
        total = json.loads(output.splitlines()[-1])
        if total['caches'] is None:
            self.skipTest('this kernel does not report the cache of an object')
        check_held_files(self, total['caches'])
        seen = {cache['name']: cache['slabinfo_objects'] for cache in total['caches']}
        self.assertNotIn('slabinfo', total['memory'])
        # stat counted for a longer time than this test, so the counts may differ slightly.
        for name in ('filp', 'kmalloc-4k', 'task_struct'):
            if name in seen:
                self.assertLess(abs(seen[name] - (after[name] - before[name])), 500, name)

    def test_failures_are_counted_for_events_that_can_fail(self):
        """The definitions in include/trace/events determine which events can fail. Percpu memory has a separate
        event for failures, which has no allocated bytes."""
        events = {event['event']: event for event in self.result('-d', '100ms')['events']}
        self.assertEqual({name for name, event in events.items() if event['failed'] is not None},
                         {f'kmem:{name}' for name in ('kmalloc', 'kmalloc_node', 'kmem_cache_alloc', 'kmem_cache_alloc_node',
                                                      'mm_page_alloc')}.intersection(events) |
                         {'percpu:percpu_alloc_percpu_fail', 'vmalloc:alloc_vmap_area'})
        self.assertIsNone(events['percpu:percpu_alloc_percpu_fail']['bytes_allocated'])
        self.assertIsNotNone(events['percpu:percpu_alloc_percpu']['bytes_allocated'])

    def test_intervals_add_up_to_the_total(self):
        process = self.stat('--json', '--interval', '100ms', '-d', '1s')
        output, messages = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0, messages)
        *intervals, total = map(json.loads, output.splitlines())
        self.assertGreaterEqual(len(intervals), 3)
        self.assertTrue(all(interval['kind'] == 'interval' for interval in intervals))
        for i, event in enumerate(total['events']):
            parts = sum(interval['events'][i]['events'] for interval in intervals)
            self.assertEqual(parts, event['events'], event['event'])
        self.assertEqual([interval['end_ns'] for interval in intervals],
                         [interval['start_ns'] for interval in intervals[1:]] + [total['end_ns']])
        for interval in intervals:
            self.assertEqual(interval['missing_events'], total['missing_events'])
            self.assertGreater(interval['kernel_memory_bytes'], 0)
        self.assertIn('SUnreclaim', total['memory']['meminfo'])

    def test_ends_with_the_process_and_detaches_programs(self):
        before = pinned()
        loop = begin_loop(10)
        self.addCleanup(self.end, loop)
        stat = self.stat('--interval', '100ms', '--json', '-p', str(loop.pid))
        stat.stdout.readline()
        self.assertTrue(bpf_files(stat.pid))
        loop.communicate('go\n', timeout=20)
        stat.communicate(timeout=20)
        self.assertEqual(stat.returncode, 0)
        self.assertEqual(pinned(), before)

    def test_threads_are_refused(self):
        loop = subprocess.Popen([PIPE_LOOP, '100000000', '2'], stdout=subprocess.DEVNULL)
        self.addCleanup(self.end, loop)
        threads = f'/proc/{loop.pid}/task'
        self.assertTrue(wait_until(lambda: len(os.listdir(threads)) > 1))
        thread = next(name for name in os.listdir(threads) if name != str(loop.pid))
        process = self.stat('-p', thread)
        _, messages = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 2)
        self.assertIn(f'thread of process {loop.pid}', messages)

    def test_ends_when_the_reader_exits(self):
        for command in (('stat', '-I', '100ms'), ('top', '--batch', '--interval', '100ms')):
            process = subprocess.Popen([PROGRAM, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       encoding='utf-8')
            self.addCleanup(self.end, process)
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.wait(timeout=20), 0, command)

    def test_returns_the_exit_status_of_the_command(self):
        for tool in (('stat',), ('profile', '--rate', '1M'), ('top', '--batch')):
            for script, status, end in (('exit 3', 3, 'exited with 3'), ('kill -15 $$', 143, 'was killed by signal 15')):
                done = subprocess.run([PROGRAM, *tool, '--', 'sh', '-c', script], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, encoding='utf-8', timeout=20, check=False)
                self.assertEqual(done.returncode, status, (tool, done.stderr))
                self.assertIn(f'sh {end}', done.stderr)

    def test_a_cgroup(self):
        with open('/proc/self/mounts', encoding='utf-8') as mounts:
            roots = [line.split()[1] for line in mounts if line.split()[2] == 'cgroup2']
        if not roots:
            self.skipTest('cgroup2 is not mounted')
        group = f'{roots[0]}/kmemtrace-stat-{os.getpid()}'
        os.mkdir(group)
        self.addCleanup(os.rmdir, group)
        loop = begin_loop(5000)
        self.addCleanup(self.end, loop)
        with open(f'{group}/cgroup.procs', 'w', encoding='ascii') as file:
            file.write(str(loop.pid))
        stat = self.stat('--json', '--interval', '100ms', '--cgroup', group)
        stat.stdout.readline()
        loop.stdin.write('go\n')
        loop.stdin.flush()
        counted = json.loads(loop.stdout.readline())
        stat.send_signal(signal.SIGINT)
        output, _ = stat.communicate(timeout=20)
        events = json.loads(output.splitlines()[-1])['events']
        seen = {event['event']: event['events'] for event in events}
        missed = {event['event']: event['missed'] for event in events}
        loop.communicate(timeout=20)
        for name in ('kmalloc', 'kmem_cache_alloc'):
            self.assertGreaterEqual(seen[f'kmem:{name}'] + missed[f'kmem:{name}'], counted[name], name)
            self.assertLess(seen[f'kmem:{name}'], counted[name] + 200, name)


if __name__ == '__main__':
    unittest.main()
