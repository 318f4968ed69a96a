# SPDX-License-Identifier: GPL-2.0-or-later
"""What the live tests share: running the recorder, and reading its traces with trace-cmd, not with our own reader."""
import collections
import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ.get('KMEMTRACE', '')
TRACEFS = '/sys/kernel/tracing'
INSTANCES = TRACEFS + '/instances'

# "comm-12    1-0x10  12.345678901: kmalloc:  call_site=… ": CPU and flags in front of the time; the name may hold anything.
LINE = re.compile(r'^.*-(?P<pid>\d+)\s+(?P<cpu>\d+)-0x(?P<flags>[0-9a-f]+)\s+(?P<time>\d+\.\d+):\s+'
                  r'(?P<name>\w+):\s*(?P<fields>.*)$')

Event = collections.namedtuple('Event', 'pid cpu flags time_ns name fields')


def why_not_live():
    if os.geteuid() != 0:
        return 'not root'
    if not os.path.isdir(INSTANCES):
        return f'no {INSTANCES}'
    return None


def report(path, *options):
    """stdout of trace-cmd report; fails when it warns about anything."""
    done = subprocess.run(['trace-cmd', 'report', '-i', path, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding='utf-8', errors='replace')
    if done.returncode != 0 or done.stderr.strip():
        raise AssertionError(f'trace-cmd report {path}: exit {done.returncode}: {done.stderr}')
    return done.stdout


def events_of(path):
    """Every event that trace-cmd finds, with full times."""
    events = []
    for line in report(path, '-R', '-t', '-l').splitlines():
        if line.startswith(('cpus=', 'CPU ')) or not line.strip():
            continue
        match = LINE.match(line)
        if not match:
            raise AssertionError(f'trace-cmd report prints a line that is no event: {line!r}')
        seconds, fraction = match['time'].split('.')
        events.append(Event(int(match['pid']), int(match['cpu']), int(match['flags'], 16),
                            int(seconds) * 10 ** 9 + int(fraction.ljust(9, '0')), match['name'], match['fields']))
    return events


def in_interrupt(event):
    """Hard or soft interrupt, or NMI."""
    return event.flags & (0x08 | 0x10 | 0x40) != 0


def kernel_statistics(path):
    """The kernel's per_cpu stats that the file holds: a dict for each CPU."""
    done = subprocess.run(['trace-cmd', 'dump', '-i', path, '--options'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding='utf-8', errors='replace', check=True)
    statistics = []
    for line in done.stdout.splitlines():
        match = re.match(r'^(CPU|node|entries|overrun|commit overrun|dropped events|read events): (\d+)$', line)
        if match and match[1] == 'CPU':
            statistics.append({})
        if match and statistics:
            statistics[-1][match[1]] = int(match[2])
    return statistics


def lost_in(statistics):
    return sum(cpu['overrun'] + cpu['commit overrun'] + cpu['dropped events'] for cpu in statistics)


def instances_of(pid):
    return [name for name in os.listdir(INSTANCES) if name.startswith(f'kmemtrace-{pid}-')]


def wait_until(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


class LiveTest(unittest.TestCase):
    def setUp(self):
        reason = why_not_live()
        if reason and os.environ.get('KMEMTRACE_REQUIRE_LIVE') == '1':
            self.fail(f'cannot record here: {reason}')
        if reason:
            self.skipTest(reason)
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.directory = stack.enter_context(tempfile.TemporaryDirectory(prefix='kmemtrace-live-'))
        self.trace = os.path.join(self.directory, 'trace.dat')

    def start(self, *arguments, **options):
        """A recorder that has begun to trace."""
        process = self.launch(*arguments, **options)
        self.assertTrue(wait_until(lambda: self.tracing(process.pid) or process.poll() is not None), 'never began')
        self.assertIsNone(process.poll(), 'ended at once')
        return process

    def launch(self, *arguments, **options):
        options.setdefault('stderr', subprocess.PIPE)
        process = subprocess.Popen([PROGRAM, 'record', '-o', self.trace, *arguments], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, encoding='utf-8', errors='replace', **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()

    @staticmethod
    def tracing(pid):
        for name in instances_of(pid):
            with contextlib.suppress(OSError), open(f'{INSTANCES}/{name}/tracing_on', encoding='ascii') as file:
                with open(f'{INSTANCES}/{name}/events/kmem/kmalloc/enable', encoding='ascii') as enabled:
                    return file.read().strip() == '1' and enabled.read().strip().startswith('1')
        return False

    def record(self, *arguments, exit_code=0, **options):
        """A whole recording; what it said on stderr."""
        process = self.launch(*arguments, **options)
        _, messages = process.communicate(timeout=60)
        self.assertEqual(process.returncode, exit_code, messages)
        self.assert_nothing_left(process.pid)
        return messages or ''

    def finish(self, process, exit_code=0):
        _, messages = process.communicate(timeout=60)
        self.assertEqual(process.returncode, exit_code, messages)
        self.assert_nothing_left(process.pid)
        return messages or ''

    def assert_nothing_left(self, pid, seconds=0):
        gone = wait_until(lambda: not instances_of(pid), seconds)
        self.assertTrue(gone, f'left behind: {instances_of(pid)}')
        litter = [name for name in os.listdir(self.directory) if name != 'trace.dat' and name.startswith(('.', 'trace'))]
        self.assertEqual(litter, [])
