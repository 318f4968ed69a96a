#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records known workloads on the running kernel. The trace must contain exactly the events that occurred."""
import collections
import json
import re
import signal
import subprocess
import time
import unittest

import kmt_events
from recording import PIPE_LOOP, PROGRAM, LiveTest, events_of, in_interrupt, kernel_statistics, lost_in, report

COUNTED = ('kmalloc', 'kfree', 'kmem_cache_alloc', 'kmem_cache_free')


class Counts(LiveTest):
    def run_loop(self, pipes, *options):
        """Records the loop. Returns the events and the kernel's own counts."""
        process = self.launch(*options, '--', PIPE_LOOP, str(pipes))
        output, messages = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, messages)
        self.assert_nothing_left(process.pid)
        self.assertIn('othing was lost', messages)
        return events_of(self.trace), json.loads(output.splitlines()[-1])

    def test_agrees_with_the_kernels_counters(self):
        events, counted = self.run_loop(2000)
        mine = [e for e in events if e.pid == counted['pid'] and counted['first'] <= e.time_ns <= counted['last']]
        seen = collections.Counter(e.name for e in mine)
        for name in COUNTED:
            self.assertGreaterEqual(counted[name], 2000, name)
            self.assertEqual(seen[name], counted[name], name)

    def test_call_sites_scale_with_the_work(self):
        counts = []
        for pipes in (1000, 3000):
            events, counted = self.run_loop(pipes, '-e', 'kmem:kmalloc,kmem:kmem_cache_alloc')
            window = [e for e in events if e.pid == counted['pid'] and not in_interrupt(e) and
                      counted['first'] <= e.time_ns <= counted['last']]
            counts.append(collections.Counter(e.fields['call_site'] for e in window))
        sites = [site for site, count in counts[1].items() if count >= 3000]
        self.assertGreaterEqual(len(sites), 3)
        for site in sites:
            self.assertEqual(counts[1][site] % 3000, 0, site)
            self.assertEqual(counts[0][site] * 3, counts[1][site], site)

    def check_frees_of_the_recorder(self, *options):
        """The trace lacks the recorder's allocations but has its frees. The check must not report them as double
        frees."""
        self.record('-e', 'kmem:kmalloc*,kmem:kmem_cache_alloc*,kmem:kfree,kmem:kmem_cache_free', *options, '--',
                    'sh', '-c', 'for i in 1 2 3; do sleep 0.4; ls -lR /etc > /dev/null; done')
        own = set(map(int, kmt_events.File(self.trace, heads_only=True).facts['note:recorder_tasks'].split()))
        live, again = {}, collections.Counter()
        for event in sorted(events_of(self.trace), key=lambda event: event.time_ns):
            pointer = event.fields.get('ptr', 0)
            if event.name in ('kfree', 'kmem_cache_free') and pointer > 16:
                again[event.pid in own and not in_interrupt(event)] += live.get(pointer) is False
            if pointer:
                live[pointer] = event.name in ('kmalloc', 'kmem_cache_alloc', 'kmalloc_node', 'kmem_cache_alloc_node')
        self.assertGreater(again[True], 0)
        checked = json.loads(subprocess.run([PROGRAM, 'check', '--json', self.trace], stdout=subprocess.PIPE,
                                            check=False).stdout)
        found = {finding['kind']: finding['count'] for finding in checked['files'][0]['findings']}
        self.assertEqual(found.get('double_free_or_untraced_allocation', 0), again[False], (found, again))

    def test_frees_of_the_recorder(self):
        self.check_frees_of_the_recorder('--no-probes')  # this test computes frees from tracepoints only

    def test_frees_of_the_recorder_by_bpf(self):
        self.check_frees_of_the_recorder('--backend', 'bpf')

    def test_agrees_with_perf_stat(self):
        command = ['perf', 'stat', '-x,', '-o', f'{self.directory}/perf.csv',
                   '-e', ','.join(f'kmem:{name}' for name in COUNTED), '--', PIPE_LOOP, '20000']
        process = self.launch('--', *command)
        output, messages = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, messages)
        pid = json.loads(output.splitlines()[-1])['pid']
        seen = collections.Counter(e.name for e in events_of(self.trace) if e.pid == pid)
        with open(f'{self.directory}/perf.csv', encoding='utf-8') as file:
            for line in file:
                fields = line.split(',')
                if len(fields) < 3 or not fields[2].startswith('kmem:'):
                    continue
                # perf starts counting inside execve() and stops before exit() has freed everything. The trace also
                # contains the events before and after.
                self.assertAlmostEqual(seen[fields[2][5:]], int(fields[0]), delta=int(fields[0]) // 50,
                                       msg=fields[2])

    def test_both_file_versions_have_the_same_events_of_a_command(self):
        self.trace = self.path('trace.dat')
        sizes = {}
        for version in ('6', '7'):
            messages = self.record('--file-version', version, '--', PIPE_LOOP, '500')
            reported = int(re.search(r'([\d,]+) events', messages)[1].replace(',', ''))
            events = events_of(self.trace)
            sizes[version] = len(events)
            self.assertEqual(len(events), reported, f'version {version}')
            statistics = kernel_statistics(self.trace)
            self.assertEqual(sum(cpu['read events'] for cpu in statistics), reported)
            self.assertEqual(sum(cpu['entries'] for cpu in statistics), 0)
            report(self.trace, '--stat')
        self.assertGreater(min(sizes.values()), 1000)

    def test_own_threads_are_not_recorded(self):
        process = self.start('-e', 'kmem:kmalloc,kmem:kmem_cache_alloc,kmem:mm_page_alloc,sched:sched_switch,sched:sched_wakeup')
        own = {process.pid}
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline:
            own |= self.tasks_of(process.pid)
            subprocess.run([PIPE_LOOP, '200'], stdout=subprocess.DEVNULL, check=True)
        process.send_signal(signal.SIGINT)
        self.finish(process)
        self.assertGreater(len(own), 2)
        events = events_of(self.trace)
        self.assertGreater(len(events), 1000)
        self.assertEqual([e for e in events if e.pid in own and not in_interrupt(e)], [])

    # The kernel may free the objects of an ended task in the next task that runs, often the recorder.
    def test_frees_for_other_tasks_in_the_recorder_are_kept(self):
        process = self.start('-e', 'percpu:*')
        for _ in range(300):
            subprocess.run(['/bin/true'], check=True)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        self.finish(process)
        done = subprocess.run([PROGRAM, 'report', '--json', self.trace], stdout=subprocess.PIPE, check=True)
        percpu = json.loads(done.stdout)['percpu']
        self.assertGreater(percpu['allocations'], 300)
        self.assertLess(percpu['live_allocations'], percpu['allocations'] // 10)  # tasks of other programs may still be alive

    @staticmethod
    def tasks_of(pid):
        """Returns the thread and process IDs of the recorder's threads and children."""
        found = set()
        done = subprocess.run(['ps', '-L', '-o', 'lwp=', '-p', str(pid), '--ppid', str(pid)], stdout=subprocess.PIPE,
                              encoding='ascii', check=False)
        found.update(int(word) for word in done.stdout.split())
        return found

    def test_pid_records_children_and_no_other_tasks(self):
        shell = subprocess.Popen(['sh', '-c', 'read line; "$0" 300', PIPE_LOOP], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, encoding='ascii')
        self.addCleanup(LiveTest.end, shell)
        process = self.start('-p', str(shell.pid))
        output, _ = shell.communicate('go\n', timeout=30)
        process.send_signal(signal.SIGTERM)
        self.finish(process)
        child = json.loads(output.splitlines()[-1])['pid']
        self.assertNotEqual(child, shell.pid)
        events = events_of(self.trace)
        self.assertGreater(sum(e.pid == child for e in events), 1500)
        self.assertEqual({e.pid for e in events} - {child, shell.pid}, set())

    def test_pid_includes_all_threads_of_the_process(self):
        loop = subprocess.Popen([PIPE_LOOP, '300', '3', '--wait'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                encoding='ascii')
        self.addCleanup(LiveTest.end, loop)
        self.assertIn('ready', loop.stdout.readline())
        process = self.start('-p', str(loop.pid))
        loop.communicate('go\n', timeout=30)
        process.send_signal(signal.SIGINT)
        self.finish(process)
        busy = [pid for pid, count in collections.Counter(e.pid for e in events_of(self.trace)).items() if count > 1500]
        self.assertEqual(len(busy), 3, busy)

    def test_only_command(self):
        loop = subprocess.Popen(['sh', '-c', 'while :; do "$0" 50; done', PIPE_LOOP], stdout=subprocess.DEVNULL)
        self.addCleanup(LiveTest.end, loop)
        process = self.launch('-F', '--', 'sh', '-c', 'echo $$; "$0" 300; exit 7', PIPE_LOOP)
        output, messages = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 7, messages)
        wanted = {int(output.splitlines()[0]), json.loads(output.splitlines()[-1])['pid']}
        self.assertEqual({e.pid for e in events_of(self.trace)} - wanted, set())

    def test_lost_events_equal_the_kernels_count(self):
        process = self.start('-b', '64k')
        process.send_signal(signal.SIGSTOP)  # the recorder does not read, so that the buffers overflow
        subprocess.run([PIPE_LOOP, '4000'], stdout=subprocess.DEVNULL, check=True)
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGINT)
        messages = self.finish(process)
        reported = self.reported_losses(messages)
        self.assertGreater(reported, 0)
        self.assertEqual(reported, lost_in(kernel_statistics(self.trace)))
        self.assertEqual(self.check(self.trace)['trace']['lost_events'], reported)


class CountsOfTraceDat(LiveTest):
    FILE = 'trace.dat'
    test_agrees_with_the_kernels_counters = Counts.test_agrees_with_the_kernels_counters
    test_lost_events_equal_the_kernels_count = Counts.test_lost_events_equal_the_kernels_count
    run_loop = Counts.run_loop


if __name__ == '__main__':
    unittest.main()
