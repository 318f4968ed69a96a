# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared by the live tests: runs the recorder and reads its traces. The readers are trace-cmd and the test suite's
own .kmt decoder, not the reader of kmemtrace."""
import contextlib
import functools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import kmt_events
from kmt_events import Event

PROGRAM = os.environ.get('KMEMTRACE', '')
PIPE_LOOP = os.environ.get('PIPE_LOOP', '')
TRACEFS = '/sys/kernel/tracing'
INSTANCES = TRACEFS + '/instances'

# "comm-12    1-0x10  12.345678901: kmalloc:  call_site=… ": CPU and flags precede the time. The task name may contain
# any characters.
LINE = re.compile(r'^.*-(?P<pid>\d+)\s+(?P<cpu>\d+)-0x(?P<flags>[0-9a-f]+)\s+(?P<time>\d+\.\d+):\s+'
                  r'(?P<name>\w+):\s*(?P<fields>.*)$')
PAIR = re.compile(r'(\w+)=(\S*)')


def why_not_live():
    if os.geteuid() != 0:
        return 'not root'
    if not os.path.isdir(INSTANCES):
        return f'no {INSTANCES}'
    return None


def report(path, *options):
    """Returns the output of trace-cmd report. Fails if trace-cmd prints a warning."""
    done = subprocess.run(['trace-cmd', 'report', '-i', path, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding='utf-8', errors='replace')
    if done.returncode != 0 or done.stderr.strip():
        raise AssertionError(f'trace-cmd report {path}: exit {done.returncode}: {done.stderr}')
    return done.stdout


def events_of(path):
    """Returns every event of a whole trace with full timestamps. Events of a trace.dat are read by trace-cmd."""
    if path.endswith('.kmt'):
        return kmt_events.events_of(kmt_events.File(path))
    events = []
    for line in report(path, '-R', '-t', '-l').splitlines():
        if line.startswith(('cpus=', 'CPU ')) or not line.strip():
            continue
        match = LINE.match(line)
        if not match:
            raise AssertionError(f'trace-cmd report prints a line that is no event: {line!r}')
        seconds, fraction = match['time'].split('.')
        events.append(Event(int(match['pid']), int(match['cpu']), int(match['flags'], 16),
                            int(seconds) * 10 ** 9 + int(fraction.ljust(9, '0')), match['name'],
                            dict(PAIR.findall(match['fields']))))
    return events


def in_interrupt(event):
    """True for events in a hard or soft interrupt or an NMI."""
    return event.flags & (0x08 | 0x10 | 0x40) != 0


def kernel_statistics(path):
    """Returns the kernel's per_cpu statistics that are saved in the file: a dict for each CPU."""
    if path.endswith('.kmt'):
        file = kmt_events.File(path, heads_only=True)
        return [parse_statistics(text.decode())[0] for text in file.cpu_stats]
    done = subprocess.run(['trace-cmd', 'dump', '-i', path, '--options'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding='utf-8', errors='replace', check=True)
    return parse_statistics(done.stdout)


def parse_statistics(text):
    statistics = []
    for line in text.splitlines():
        match = re.match(r'^(CPU|node|entries|overrun|commit overrun|dropped events|full rings|read events): (\d+)$', line)
        if match and match[1] == 'CPU':
            statistics.append({})
        if match and statistics:
            statistics[-1][match[1]] = int(match[2])
    return statistics


def lost_in(statistics):
    return sum(cpu['overrun'] + cpu['commit overrun'] + cpu['dropped events'] + cpu.get('full rings', 0)
               for cpu in statistics)


def instances_of(pid):
    return [name for name in os.listdir(INSTANCES) if name.startswith(f'kmemtrace-{pid}-')]


def read_file(path):
    with open(path, encoding='utf-8', errors='replace') as file:
        return file.read()


def wait_until(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


def second_try(check):
    """Decorator that repeats a failed test once, with a new folder. Use it if the result depends on all processes of
    the machine, or on how much CPU time it has left. A wrong result of the program fails both times."""
    @functools.wraps(check)
    def repeated(self):
        try:
            check(self)
        except AssertionError as error:
            print(f'{self.id()} is repeated: {error}', file=sys.stderr)
            self.doCleanups()
            self.setUp()
            check(self)
    return repeated


class LiveTest(unittest.TestCase):
    FILE = 'trace.kmt'  # the file name selects the format

    def setUp(self):
        reason = why_not_live()
        if reason and os.environ.get('KMEMTRACE_REQUIRE_LIVE') == '1':
            self.fail(f'cannot record here: {reason}')
        if reason:
            self.skipTest(reason)
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.directory = stack.enter_context(tempfile.TemporaryDirectory(prefix='kmemtrace-live-'))
        self.trace = self.path(self.FILE)

    def path(self, name):
        return os.path.join(self.directory, name)

    def start(self, *arguments, **options):
        """Starts a recorder and waits until it traces."""
        process = self.launch(*arguments, **options)
        self.assertTrue(wait_until(lambda: self.tracing(process.pid) or process.poll() is not None, 60), 'never began')
        if process.poll() is not None:
            self.fail(f'ended at once: {process.communicate()[1]}')
        return process

    def launch(self, *arguments, **options):
        options.setdefault('stderr', subprocess.PIPE)
        own = arguments[:arguments.index('--')] if '--' in arguments else arguments
        output = [] if '-o' in own else ['-o', self.trace]
        process = subprocess.Popen([PROGRAM, 'record', *output, *arguments], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, encoding='utf-8', errors='replace', **options)
        self.addCleanup(self.end, process)
        return process

    def load(self, pause=None):
        """Starts a pipe loop on each CPU, which runs until the test ends. With `pause` (seconds), the loops are short,
        with pauses in between. Returns the processes."""
        loops = []
        for cpu in sorted(os.sched_getaffinity(0)):
            command = [PIPE_LOOP, '100000000']
            if pause:
                command = ['sh', '-c', 'while "$0" 50 && sleep "$1"; do :; done', PIPE_LOOP, str(pause)]
            loops.append(subprocess.Popen(['taskset', '-c', str(cpu), *command], stdout=subprocess.DEVNULL))
            self.addCleanup(self.end, loops[-1])
        return loops

    def end_all(self, processes):
        for process in processes:
            self.end(process)

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()

    @staticmethod
    def tracing(pid):
        """True if the recorder is recording. Before it records, the recorder measures the rate of all events except
        frees, without filters. Filters are set only when the recording starts."""
        for name in instances_of(pid):
            with contextlib.suppress(OSError):
                events = read_file(f'{INSTANCES}/{name}/set_event').split()
                if events and read_file(f'{INSTANCES}/{name}/tracing_on') == '1\n':
                    return any('common_pid' in read_file(f'{INSTANCES}/{name}/events/{event.replace(":", "/")}/filter')
                               for event in events)
        return False

    def record(self, *arguments, exit_code=0, **options):
        """Runs a complete recording. Returns its messages on stderr."""
        return self.finish(self.launch(*arguments, **options), exit_code)

    def finish(self, process, exit_code=0):
        return self.finish_all([process], exit_code)[0]

    def finish_all(self, processes, exit_code=0):
        """Waits for recorders that share the folder. Checks for unfinished files after all recorders have ended."""
        ended = [(process, process.communicate(timeout=300)[1]) for process in processes]
        for process, messages in ended:
            self.assertEqual(process.returncode, exit_code, messages)
            self.assert_nothing_left(process.pid)
        return [messages or '' for _, messages in ended]

    def assert_nothing_left(self, pid, seconds=0):
        gone = wait_until(lambda: not instances_of(pid), seconds)
        self.assertTrue(gone, f'left behind: {instances_of(pid)}')
        wait_until(lambda: not self.unfinished_files(), seconds)
        self.assertEqual(self.unfinished_files(), [])

    def unfinished_files(self):
        return [name for name in os.listdir(self.directory)
                if name.startswith(('.', 'trace')) and not re.fullmatch(r'trace(\.second|\.\d{4})?\.(kmt|dat)(\.old)?', name)]

    @staticmethod
    def check(path):
        """Returns the result of `check --json` for a trace."""
        done = subprocess.run([PROGRAM, 'check', '--json', path], stdout=subprocess.PIPE, check=False)
        return json.loads(done.stdout)['files'][0]

    def perf_stat(self, pid, *events):
        """Starts perf stat for a process, with options that select events. Waits until it counts, and writes the counts
        to perf.csv when it ends."""
        for name in ('control', 'answer'):
            os.mkfifo(self.path(name))
        perf = subprocess.Popen(['perf', 'stat', '-x,', '-o', self.path('perf.csv'), *events, '-p', str(pid), '--delay=-1',
                                 f'--control=fifo:{self.path("control")},{self.path("answer")}'],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, perf)
        control = os.open(self.path('control'), os.O_RDWR)  # O_RDWR: does not block until perf opens the FIFO
        self.addCleanup(os.close, control)
        answer = os.open(self.path('answer'), os.O_RDWR)
        self.addCleanup(os.close, answer)
        os.write(control, b'enable\n')
        self.assertIn(b'ack', os.read(answer, 16))
        return perf

    def reported_losses(self, messages):
        """Returns the number of lost events that the recorder's messages report."""
        match = re.search(r'([\d,]+) events? (?:were|was) lost', messages)
        if not match:
            self.assertIn('othing was lost', messages)
        return int(match[1].replace(',', '')) if match else 0


def begin_loop(*arguments):
    """Starts a workload that waits for a line on stdin."""
    process = subprocess.Popen([PIPE_LOOP, *map(str, arguments), '--wait'], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, encoding='ascii')
    if 'ready' not in process.stdout.readline():
        raise AssertionError('the workload does not begin')
    return process


def end_loop(process):
    """Lets the workload run. Returns its own counts."""
    output, _ = process.communicate('go\n', timeout=60)
    return json.loads(output.splitlines()[-1])
