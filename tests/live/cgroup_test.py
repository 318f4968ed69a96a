#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests recording of one cgroup: its tasks, tasks that enter, and their children are recorded, and no other task."""
import collections
import json
import os
import signal
import subprocess
import unittest

from recording import (INSTANCES, PIPE_LOOP, PROGRAM, LiveTest, begin_loop, end_loop, events_of, instances_of, read_file,
                       wait_until)

COUNTED = ('kmalloc', 'kfree')
KERNEL = tuple(int(number) for number in os.uname().release.split('-')[0].split('.')[:2])
MAKER = 'import os; [os.close(os.eventfd(0)) for _ in range(50)]'  # objects that only an eventfd has


class Cgroup(LiveTest):
    def setUp(self):
        super().setUp()
        mounts = [line.split() for line in read_file('/proc/self/mounts').splitlines()]
        mounts = [place for _, place, kind, *_ in mounts if kind == 'cgroup2']
        if not mounts:
            self.skipTest('no cgroup2 is mounted')
        self.name = f'kmemtrace-test-{os.getpid()}'
        self.group = f'{mounts[0]}/{self.name}'
        self.child = f'{self.group}/child'
        for path in (self.group, self.child):
            os.mkdir(path)
            self.addCleanup(wait_until, lambda path=path: self.removed(path))

    @staticmethod
    def removed(path):
        try:
            os.rmdir(path)
        except OSError:  # a task that has just ended may still be in the cgroup
            return False
        return True

    def begin(self, group=None, loop=None):
        loop = loop or begin_loop(500)
        self.addCleanup(self.end, loop)
        if group:
            self.enter(group, loop)
        return loop

    @staticmethod
    def enter(group, process):
        with open(f'{group}/cgroup.procs', 'w', encoding='ascii') as file:
            file.write(str(process.pid))

    def followed(self, process):
        return read_file(f'{INSTANCES}/{instances_of(process.pid)[0]}/set_event_pid').split()

    def record_all(self, cgroup):
        there, below, outside, later = self.begin(self.group), self.begin(self.child), self.begin(), self.begin()
        shell = self.begin(self.group, subprocess.Popen(['sh', '-c', 'read line; "$0" 500', PIPE_LOOP], text=True,
                                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        process = self.start('--cgroup', cgroup, '--clock', 'mono')
        self.enter(self.group, later)
        self.assertTrue(wait_until(lambda: str(later.pid) in self.followed(process)), 'not seen')
        inside = [end_loop(loop) for loop in (there, below, later)]
        output, _ = shell.communicate('go\n', timeout=30)
        inside.append(json.loads(output.splitlines()[-1]))
        end_loop(outside)
        process.send_signal(signal.SIGINT)
        self.assertIn('othing was lost', self.finish(process))
        events = events_of(self.trace)
        for counted in inside:
            seen = collections.Counter(e.name for e in events if e.pid == counted['pid'] and
                                       counted['first'] <= e.time_ns <= counted['last'])
            for name in COUNTED:
                self.assertGreaterEqual(counted[name], 500)
                self.assertEqual(seen[name], counted[name], name)
        self.assertEqual({e.pid for e in events} - {c['pid'] for c in inside} - {shell.pid}, set())

    def cgroups_of_eventfds(self):
        done = subprocess.run([PROGRAM, 'report', self.trace, '--call-site', 'do_eventfd*', '--by', 'cgroup', '--json'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        rows = json.loads(done.stdout)['groups']['slab']['rows']
        return {row['keys']['cgroup']: row['allocations'] for row in rows}

    def test_a_task_that_moves_in_is_recorded(self):
        known = 'grep -qwx $$ /sys/kernel/tracing/instances/kmemtrace-*/set_event_pid'
        move = (f'echo $$ > {self.group}/cgroup.procs; for i in $(seq 200); do {known} && break; sleep 0.1; done; '
                f'exec python3 -c "{MAKER}"')
        self.record('--cgroup', self.name, '--', 'sh', '-c', move)
        self.assertEqual(self.cgroups_of_eventfds(), {f'/{self.name}': 50})

    def test_a_task_moved_by_another_task_is_recorded(self):
        for backend in 'tracefs', 'bpf':
            with self.subTest(backend):
                ready = self.path('pid')
                process = self.launch('--backend', backend, '-F', '--', 'sh', '-c',
                                      f'echo $$ > {ready}; until grep -q {self.name} /proc/self/cgroup; do sleep 0.1; done; '
                                      f'exec python3 -c "{MAKER}"')
                self.assertTrue(wait_until(lambda: os.path.exists(ready) and read_file(ready).strip(), 20))
                with open(f'{self.group}/cgroup.procs', 'w', encoding='ascii') as file:
                    file.write(read_file(ready))
                self.finish(process)
                self.assertEqual(self.cgroups_of_eventfds(), {f'/{self.name}': 50})
                os.remove(ready)

    @unittest.skipIf(KERNEL < (6, 0), 'perf does not tell of what was lost last')
    def test_missed_moves_are_reported(self):
        moved = self.begin()
        process = self.start('--backend', 'tracefs', '-F', '--', 'sleep', '60')
        process.send_signal(signal.SIGSTOP)  # the recorder stops reading; buffers have room for hundreds of moves
        for _ in range(2000):
            self.enter(self.group, moved)
            self.enter(self.child, moved)
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGINT)
        self.assertRegex(self.finish(process), r'some moves of tasks between cgroups were missed \([0-9]+ moves\)')
        self.assertEqual([each['kind'] for each in self.check(self.trace)['findings'] if 'cgroup' in each['kind']],
                         ['lost_cgroup_moves'])

    def test_by_name(self):
        self.record_all(self.name)

    def test_by_path(self):
        self.record_all(self.group)

    def test_another_mount_has_the_same_cgroup(self):
        other = self.path('mounted')
        os.mkdir(other)
        if subprocess.run(['mount', '-t', 'cgroup2', 'cgroup2', other], check=False).returncode != 0:
            self.skipTest('nothing can be mounted here')
        self.addCleanup(subprocess.run, ['umount', other], check=True)
        for name in (self.name, f'{other}/{self.name}'):
            self.record('--cgroup', name, '-d', '100ms')

    def test_empty_cgroup_records_nothing(self):
        self.record('--cgroup', self.name, '--', PIPE_LOOP, '300')
        self.assertEqual(events_of(self.trace), [])

    def test_no_such_cgroup(self):
        self.assertIn('no cgroup', self.record('--cgroup', self.name + '-not', exit_code=2))


if __name__ == '__main__':
    unittest.main()
