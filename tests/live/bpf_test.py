#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that `record --backend bpf` records the same events as ftrace for the same workload, record by record."""
import bisect
import collections
import contextlib
import functools
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import time
import unittest

from kmt_events import File, Formats, lost_in_blocks, records_of
from recording import INSTANCES, PIPE_LOOP, PROGRAM, LiveTest, begin_loop, end_loop, in_interrupt, read_file, report, wait_until

BPFTOOL = shutil.which('bpftool', path=f'{os.environ["PATH"]}:/usr/sbin')
LAST_PID = '/proc/sys/kernel/ns_last_pid'
CHOOSES_IDS = unittest.skipUnless(os.path.exists(LAST_PID), 'this kernel does not let a process choose the next ID')
# MAKER allocates fifty objects that only eventfds have. ONE_ID starts twenty processes that run MAKER one after the
# other, all with the same process ID.
MAKER = 'import os; input(); [os.close(os.eventfd(0)) for _ in range(50)]'
ONE_ID = f"""
import os, time
id = 0
for _ in range(20):
    while True:
        if id:
            with open({LAST_PID!r}, 'w') as file:
                file.write(str(id - 1))
        child = os.fork()
        if not child:
            if id in (0, os.getpid()):
                for _ in range(50):
                    os.close(os.eventfd(0))
            os._exit(0)
        os.waitpid(child, 0)
        if id in (0, child):
            break
    id = child
    time.sleep(0.002)
"""
COUNTED = ('kmalloc', 'kfree', 'kmem_cache_alloc', 'kmem_cache_free')
Full = collections.namedtuple('Full', 'event text frames')


@functools.lru_cache(maxsize=4)  # recordings of one kernel have the same symbols
def tracing_functions(kallsyms):
    """Returns (start, end) of ftrace's own functions, which stacks contain before the function that has the
    tracepoint."""
    symbols = sorted((int(line.split()[0], 16), line.split()[2]) for line in kallsyms.decode().splitlines())
    return [(address, after) for (address, name), (after, _) in zip(symbols, symbols[1:])
            if name.startswith(('trace_event_raw_event_', '__traceiter_'))]


def full_events(path):
    """Returns every event with its text (if it has one) and the frames of its stack, without frames of tracing
    functions."""
    file = File(path)
    functions = tracing_functions(file.facts['kallsyms'])
    begins = [begin for begin, _ in functions]

    def is_tracing(frame):
        place = bisect.bisect_right(begins, frame) - 1
        return place >= 0 and frame <= functions[place][1]

    order = {b'little': '<', b'big': '>'}[file.facts['byte_order']]
    formats = Formats(order, [text for _, text in file.formats])
    events = []
    for cpu, records in records_of(file):
        waiting = {}
        for record in records:
            event = formats.event(cpu, file.to_ns(record.ticks), record.bytes)
            if event.name == 'kernel_stack':
                count, = struct.unpack_from(order + 'i', record.bytes, 8)
                whose = waiting.pop(event.flags & 0x58)
                frames = struct.unpack_from(f'{order}{count}Q', record.bytes, 16)
                events[whose] = events[whose]._replace(frames=tuple(itertools.dropwhile(is_tracing, frames)))
                continue
            text = b''
            if 'name' in event.fields:
                place = event.fields.pop('name')
                text = record.bytes[place & 0xffff:(place & 0xffff) + (place >> 16)]
            waiting[event.flags & 0x58] = len(events)
            events.append(Full(event, text, ()))
    return sorted(events, key=lambda full: full.event.time_ns)


def runs(pid):
    """True if BPF programs of this recorder record events. The recorder attaches its programs earlier, and reads the
    state of the memory before events are recorded."""
    folder = f'/proc/{pid}/fdinfo'
    with contextlib.suppress(OSError, subprocess.CalledProcessError):  # a file may be closed meanwhile
        for fd in os.listdir(folder):
            text = read_file(f'{folder}/{fd}')
            # the programs' variables: an array with one small value
            if re.search(r'^map_type:\t2\n.*^value_size:\t\d{1,4}\n.*^max_entries:\t1\n', text, re.MULTILINE | re.DOTALL):
                number = re.search(r'^map_id:\t(\d+)', text, re.MULTILINE)[1]
                values = subprocess.check_output([BPFTOOL, '-j', 'map', 'dump', 'id', number], stderr=subprocess.DEVNULL)
                if re.search(rb'"recording":\s*(1\b|"KMT_RECORDING_RUNS")', values):
                    return True
    return False


class Bpf(LiveTest):
    def begin(self, *arguments):
        """Starts a recorder with BPF programs. Waits until it records and has read all tasks."""
        self.assertIsNotNone(BPFTOOL, 'bpftool is not installed')
        process = self.launch('--backend', 'bpf', *arguments)
        self.assertTrue(wait_until(lambda: process.poll() is not None or runs(process.pid), 20), 'never began')
        time.sleep(0.3)  # the recorder reads all tasks
        self.assertIsNone(process.poll(), 'ended at once')
        return process

    def both(self, *arguments):
        """Returns the counts of the workload, and the events that each of the two recorders recorded. If an interrupt
        during a BPF program makes a recorder miss events, runs another workload."""
        for _ in range(10):
            counted, messages, found = self.attempt(*arguments)
            if all('othing was lost' in text for text in messages):
                return counted, *found
            self.assertLess(self.reported_losses(messages[0]), 2000)
            for path in self.path('trace.kmt'), self.path('trace.second.kmt'):
                os.remove(path)
        return self.fail('always lost something')

    def attempt(self, *arguments):
        loop = begin_loop(2000)
        self.addCleanup(self.end, loop)
        paths = [self.path('trace.kmt'), self.path('trace.second.kmt')]
        ours = self.begin('-o', paths[0], '-p', str(loop.pid), *arguments)
        ftrace = self.start('-o', paths[1], '--clock', 'mono', '-p', str(loop.pid), *arguments)
        counted = end_loop(loop)
        time.sleep(0.1)
        for recorder in ours, ftrace:
            recorder.send_signal(signal.SIGINT)
        for recorder in ours, ftrace:  # finish() expects that no recorder is still writing
            recorder.wait(60)
        messages = self.finish(ours), self.finish(ftrace)
        return counted, messages, [[full for full in full_events(path) if full.event.pid == loop.pid] for path in paths]

    @staticmethod
    def compared(full, frames=False):
        return full.event.cpu, full.event.name, tuple(full.event.fields.items()), full.text, full.frames if frames else ()

    def assert_same(self, ours, theirs, frames=False):
        """Events in task context must be in the same order. The order of interrupts is not compared, because an
        interrupt may occur between the two recorders' probes."""
        begin, end = (max(of[0].event.time_ns for of in (ours, theirs)), min(of[-1].event.time_ns for of in (ours, theirs)))
        near = 1000000  # ns; maximum difference of times, because the recorders read the clock separately
        mine, others = ([self.compared(full, frames) for full in of if not in_interrupt(full.event) and
                         begin - near < full.event.time_ns < end + near] for of in (ours, theirs))
        self.assertGreater(len(mine), 10000)
        self.assertEqual(len(mine), len(others))
        self.assertEqual(next(((a, b) for a, b in zip(mine, others) if a != b), None), None)
        mine, others = (collections.Counter(self.compared(full, frames) for full in of if in_interrupt(full.event) and
                                            begin + near < full.event.time_ns < end - near) for of in (ours, theirs))
        self.assertEqual(mine, others)

    def test_same_as_ftrace(self):
        counted, ours, theirs = self.both()
        window = collections.Counter(full.event.name for full in ours if counted['first'] <= full.event.time_ns <= counted['last'])
        self.assertEqual({name: window[name] for name in COUNTED}, {name: counted[name] for name in COUNTED})
        self.assert_same(ours, theirs)
        self.assertTrue(any(full.text for full in ours))

    def test_same_stacks(self):
        _, ours, theirs = self.both('--stacks')
        self.assert_same(ours, theirs, frames=True)
        self.assertTrue(all(full.frames for full in ours))

    def test_records_only_one_process(self):
        loop = begin_loop(2000)
        self.addCleanup(self.end, loop)
        recorder = self.begin('-p', str(loop.pid))
        counted = end_loop(loop)
        recorder.send_signal(signal.SIGINT)
        lost = self.reported_losses(self.finish(recorder))
        events = [full.event for full in full_events(self.trace)]
        # Events of cgroups and modules are recorded for all tasks.
        self.assertEqual({event.pid for event in events if not event.name.startswith(('cgroup_', 'module_'))}, {loop.pid})
        window = collections.Counter(event.name for event in events if counted['first'] <= event.time_ns <= counted['last'])
        for name in COUNTED:
            self.assertLessEqual(abs(window[name] - counted[name]), lost)

    def test_converted_for_trace_cmd(self):
        messages = self.record('--backend', 'bpf', '--', 'ls', '/')
        self.assertLess(self.reported_losses(messages), 20)  # events of interrupts that occurred during a BPF program
        path = self.path('trace.dat')
        subprocess.run([os.environ['KMEMTRACE'], 'convert', self.trace, path], check=True, stderr=subprocess.DEVNULL)
        text = report(path)
        task = re.search(r'(-\d+) .* task_rename: .*newcomm=ls', text)[1]
        self.assertRegex(text, task + r' .* kmem_cache_alloc: .*call_site=\S+ ptr=0x\w+ name=\w+ bytes_req=\d+')

    def eventfds_by_task(self):
        done = subprocess.run([PROGRAM, 'report', self.trace, '--call-site', 'do_eventfd*', '--by', 'task',
                               '--limit', '0', '--json'], stdout=subprocess.PIPE, check=True)
        rows = json.loads(done.stdout)['groups']['slab']['rows']
        return [(row['keys']['task']['comm'], row['keys']['task']['tid'], row['allocations']) for row in rows]

    @CHOOSES_IDS
    def test_a_process_id_may_be_reused_immediately(self):
        self.record('--backend', 'bpf', '-F', '--', 'python3', '-c', ONE_ID)
        self.assertEqual([count for _, _, count in self.eventfds_by_task()], [50] * 20)

    @CHOOSES_IDS
    def test_names_are_not_those_of_an_earlier_process_with_the_id(self):
        folder = f'{INSTANCES}/kmemtrace-test-{os.getpid()}'
        os.mkdir(folder)
        try:
            pathlib.Path(folder, 'events/kmem/kmalloc/enable').write_text('1', encoding='ascii')
            former = self.path('former')
            os.symlink('/bin/sh', former)
            for _ in range(20):
                before = subprocess.Popen([former, '-c', 'while read line; do :; done </etc/services; sleep 0.01'])
                before.wait()
                if f'{before.pid} former' in read_file(f'{INSTANCES}/../saved_cmdlines').splitlines():
                    break
            else:
                self.fail('the tracer remembers no names')
        finally:
            os.rmdir(folder)
        for _ in range(100):
            pathlib.Path(LAST_PID).write_text(str(before.pid - 1), encoding='ascii')
            loop = subprocess.Popen(['python3', '-c', MAKER], stdin=subprocess.PIPE, encoding='ascii')
            self.addCleanup(self.end, loop)
            if loop.pid == before.pid:
                break
        self.assertEqual(loop.pid, before.pid)
        recorder = self.begin('-p', str(loop.pid))
        loop.communicate('\n', timeout=60)  # ends before the recorder reads /proc again
        recorder.send_signal(signal.SIGINT)
        self.finish(recorder)
        self.assertEqual(self.eventfds_by_task(), [('python3', loop.pid, 50)])

    def test_own_events_are_not_recorded(self):
        recorder = self.begin()
        loop = begin_loop(100)
        self.addCleanup(self.end, loop)
        end_loop(loop)
        own = recorder.pid
        threads = {int(name) for name in os.listdir(f'/proc/{own}/task')}
        recorder.send_signal(signal.SIGINT)
        self.finish(recorder)
        recorded = [full.event for full in full_events(self.trace)]
        self.assertGreater(sum(event.name in COUNTED and event.pid == loop.pid for event in recorded), 100)
        found = [event for event in recorded if event.pid in threads and not in_interrupt(event)]
        self.assertEqual([event.name for event in found if 'free' not in event.name], [])

    def test_all_events_start_and_end_at_the_same_time(self):
        """All memory events must start and end at the same time, although programs are attached and detached one after
        the other. Events of tasks start earlier."""
        for _ in range(2):
            self.addCleanup(self.end, subprocess.Popen(['sh', '-c', 'while :; do /bin/true; done']))
        messages = self.record('--backend', 'bpf', '-d', '0.7')
        events = [full.event for full in full_events(self.trace)]
        memory, tasks = ([[event.time_ns for event in events if event.name == name] for name in names] for names in
                         ((*COUNTED, 'mm_page_alloc', 'mm_page_free'), ('task_newtask', 'task_rename')))
        self.assertTrue(all(memory + tasks))
        pause = max(after - before for times in memory + tasks for before, after in zip(times, times[1:]))
        for edge in [times[0] for times in memory], [times[-1] for times in memory + tasks]:
            self.assertLess(max(edge) - min(edge), 50_000_000 + pause)
        done = subprocess.run([PROGRAM, 'report', self.trace, '--by', 'comm', '--limit', '0', '--json'],
                              stdout=subprocess.PIPE, check=True)
        rows = json.loads(done.stdout)['groups']['slab']['rows']
        nameless = sum(row['allocations'] for row in rows if row['keys']['comm'] == '<...>')
        self.assertLessEqual(nameless, self.reported_losses(messages))

    def test_losses_are_counted(self):
        recorder = self.begin('-b', '64k')
        recorder.send_signal(signal.SIGSTOP)  # the recorder does not read its rings, so they overflow
        loop = begin_loop(3000)
        self.addCleanup(self.end, loop)
        counted = end_loop(loop)
        recorder.send_signal(signal.SIGCONT)
        time.sleep(1)
        for cpu in os.sched_getaffinity(0):  # the first entry of a CPU after a loss contains the number of lost events
            subprocess.run(['taskset', '-c', str(cpu), PIPE_LOOP, '10'], stdout=subprocess.DEVNULL, check=True)
        recorder.send_signal(signal.SIGINT)
        messages = self.finish(recorder)
        missed = re.search(r'on unknown CPUs: ([\d,]+) missed', messages)
        lost = self.reported_losses(messages) - (int(missed[1].replace(',', '')) if missed else 0)
        self.assertGreater(lost, sum(counted[name] for name in COUNTED) / 2)
        marked, uncounted = lost_in_blocks(File(self.trace))
        self.assertEqual((marked, uncounted), (lost, 0), messages)
        events = [full.event for full in full_events(self.trace) if full.event.pid == loop.pid]
        everything = collections.Counter(event.name for event in events)
        self.assertLess(sum(everything.values()), sum(counted[name] for name in COUNTED))
        checked = self.check(self.trace)
        self.assertIn('lost_events', json.dumps(checked))
        self.assertIn('the rings of BPF programs had no room for', json.dumps(checked))
        self.assertNotIn('overrun', json.dumps(checked))

    def test_flight(self):
        """The flight recorder keeps the latest second, in blocks of at most one second."""
        self.load(pause=0.05)
        recorder = self.begin('--flight', '1s')
        begun = time.clock_gettime(time.CLOCK_MONOTONIC)
        time.sleep(6)
        self.assertFalse(os.path.exists(self.trace))
        ended = time.clock_gettime(time.CLOCK_MONOTONIC)
        recorder.send_signal(signal.SIGINT)
        self.finish(recorder)
        times = [full.event.time_ns / 1e9 for full in full_events(self.trace)]
        self.assertGreater(len(times), 100)
        self.assertGreater(max(times), ended - 2)
        self.assertGreater(min(times), begun + 0.5)
        self.assertTrue(0.5 < max(times) - min(times) < 5, max(times) - min(times))

    def test_rotation(self):
        self.load(pause=0.05)
        recorder = self.begin('--rotate', '500ms', '--keep', '2')
        self.assertTrue(wait_until(lambda: any(name >= 'trace.0004.kmt' for name in os.listdir(self.directory)
                                               if name.startswith('trace.')), 30))
        recorder.send_signal(signal.SIGINT)
        count, removed = (int(n) for n in re.search(r'(\d+) files up to .*, (\d+) old files removed',
                                                    self.finish(recorder)).groups())
        self.assertGreater(count, 3)
        self.assertEqual(removed, count - 2)
        names = [name for name in sorted(os.listdir(self.directory)) if name.startswith('trace.')]
        self.assertEqual(names, [f'trace.{number:04}.kmt' for number in (count - 1, count)])
        ended = {}  # by CPU
        for full in full_events(self.path(names[0])):
            ended[full.event.cpu] = max(ended.get(full.event.cpu, 0), full.event.time_ns)
        self.assertGreater(len(ended), 0)
        for full in full_events(self.path(names[1])):
            self.assertGreaterEqual(full.event.time_ns, ended.get(full.event.cpu, 0))
        for name in names:
            checked = self.check(self.path(name))
            self.assertLessEqual({finding['kind'] for finding in checked['findings'] if finding['severity'] != 'info'},
                                 {'lost_events'})

    def test_a_killed_recorder_leaves_no_programs(self):
        recorder = self.begin()
        self.assertTrue(wait_until(lambda: os.path.exists(self.trace), 30))  # it is created with the first block
        time.sleep(1)
        recorder.send_signal(signal.SIGKILL)
        recorder.wait()
        self.assertTrue(wait_until(lambda: not self.ours_at_all()))
        done = subprocess.run([os.environ['KMEMTRACE'], 'report', self.trace], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)
        self.assertIn(b'Slab allocator', done.stdout)

    @staticmethod
    def ours_at_all():
        done = subprocess.run([BPFTOOL, 'prog', 'show'], stdout=subprocess.PIPE, encoding='utf-8', check=True)
        return re.findall(r'name take_\w+', done.stdout)

    def test_refused_combinations_of_options(self):
        for arguments in (['-o', self.path('trace.dat')], ['--filter', 'kmem:kmalloc:bytes_req > 1'], ['--clock', 'global'],
                          ['--boot']):
            messages = self.record('--backend', 'bpf', *arguments, exit_code=2)
            self.assertIn('cannot be combined', messages)


if __name__ == '__main__':
    unittest.main()
