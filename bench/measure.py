# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that several benchmarks use: they build the measured programs, measure time and memory of programs, run
recorders, and print tables."""
import collections
import contextlib
import json
import os
import re
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
FOLDER = os.path.join(ROOT, 'build', 'bench')
BUILD = os.path.join(ROOT, 'build-bench')
CPUS = os.cpu_count()

Built = collections.namedtuple('Built', 'kmemtrace storm micro_benchmarks empty_programs long_series')
Counted = collections.namedtuple('Counted', 'events lost')


def build():
    """Builds the programs from the current sources and returns their paths."""
    subprocess.run([os.path.join(ROOT, 'tools', 'install-packages.sh'), 'bench'], check=True)
    environment = dict(os.environ)
    if shutil.which('ccache'):
        environment.setdefault('CMAKE_CXX_COMPILER_LAUNCHER', 'ccache')
    print('Building', file=sys.stderr)
    for command in (['cmake', '-S', ROOT, '-B', BUILD, '-G', 'Ninja', '-DKMEMTRACE_TOGETHER=ON', '-DKMEMTRACE_BENCH=ON'],
                    ['ninja', '-C', BUILD, *Built._fields]):
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            sys.exit(done.stdout.decode(errors='replace'))
    return Built(os.path.join(BUILD, 'kmemtrace'), *(os.path.join(BUILD, 'bench', name) for name in Built._fields[1:]))


def generate(events, *options):
    """Makes a trace with bench/generate_trace.py. Returns the number of events written."""
    command = [sys.executable, os.path.join(HERE, 'generate_trace.py'), '--events', str(events), *options]
    return int(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def workspace():
    """Returns a temporary folder, which is removed at the end of the with statement."""
    os.makedirs(FOLDER, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=FOLDER)


def table(heads, rows):
    print('| ' + ' | '.join(heads) + ' |\n|' + '---|' * len(heads))
    for row in rows:
        print('| ' + ' | '.join(row) + ' |')
    print(flush=True)


def median(runs, key):
    return statistics.median(getattr(run, key) for run in runs)


def machine_seconds():
    """Returns the CPU time of all CPUs since boot. Idle time does not count, nor does time taken by a
    hypervisor."""
    with open('/proc/stat', encoding='ascii') as file:
        user, nice, system, _, _, irq, softirq = map(int, file.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf('SC_CLK_TCK')


class Program:
    """A running program. After its end, `seconds` is its CPU time and `wall` is its run time; both include
    children. `resident` and `anonymous` are peaks of its memory in bytes, measured at the given interval. `messages`
    is its stderr. If it is still running at the end of the with statement, it is stopped."""

    def __init__(self, command, watch_every=0.002, accepted=(0,), **options):
        self.command, self.accepted = command, accepted
        self.resident = self.anonymous = 0
        self._start = time.monotonic()
        self._stderr = tempfile.TemporaryFile()
        streams = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.DEVNULL, 'stderr': self._stderr}
        self.child = subprocess.Popen(command, **{**streams, **options})
        self._watcher = threading.Thread(target=self._watch, args=(watch_every,))
        self._watcher.start()

    def _watch(self, every):
        """Measures memory. Resident memory includes pages of mapped files; anonymous memory is the part that the
        program allocates."""
        with contextlib.suppress(OSError, ValueError):
            while True:
                with open(f'/proc/{self.child.pid}/status', encoding='ascii', errors='replace') as file:
                    values = dict(line.split(':', 1) for line in file)
                if 'VmHWM' not in values:
                    return
                self.resident = max(self.resident, int(values['VmHWM'].split()[0]) * 1024)
                self.anonymous = max(self.anonymous, int(values['RssAnon'].split()[0]) * 1024)
                time.sleep(every)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.returncode is None:  # still runs: an exception has prevented the call of end()
            self.child.send_signal(signal.SIGINT)
            self.child.wait()

    def end(self):
        _, status, usage = os.wait4(self.child.pid, 0)
        self.wall = time.monotonic() - self._start
        self.child.returncode = os.waitstatus_to_exitcode(status)
        self._watcher.join()
        self._stderr.seek(0)
        self.messages = self._stderr.read().decode(errors='replace')
        self._stderr.close()
        if self.child.returncode not in self.accepted:
            sys.exit(f'{" ".join(self.command)}: exit {self.child.returncode}\n{self.messages}')
        self.seconds = usage.ru_utime + usage.ru_stime
        return self


def default_events(kmemtrace):
    """Returns the events, as system:name, that `kmemtrace record` records by default on this machine."""
    done = subprocess.run([kmemtrace, 'list', 'events', '--json'], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)['events']['default']


class Recorder(Program):
    """A recorder of the whole machine. The constructor waits until recording has started. A recorder starts its command
    when recording has started. The command here reports its own start, and then waits until stop() is called."""

    def __init__(self, *command):
        super().__init__([*command, '--', 'sh', '-c', 'echo begun; read line; true'], watch_every=0.05,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.child.stdout.readline() != b'begun\n':
            self.end()
            sys.exit(f'{" ".join(command)} ended at once')

    def stop(self):
        self.child.stdin.close()
        return self


def start_kmemtrace(kmemtrace, path, *options):
    return Recorder(kmemtrace, 'record', '--no-progress', *options, '-o', path)


def start_perf(path, events, *options):
    return Recorder('perf', 'record', '-a', '-q', '-B', *options, '-e', ','.join(events), '-o', path)


def chunk_bytes(path, *types):
    """Returns the total size of all chunks of these types in a .kmt file, including their headers
    (docs/formats/kmt.md)."""
    file_header, trailer, chunk_header = 16, 16, 32
    with open(path, 'rb') as file:
        data = file.read()
    total, at = 0, file_header
    while at < len(data) - trailer:
        kind, stored = struct.unpack_from('<4xB3xI', data, at)
        total += chunk_header + stored if kind in types else 0
        at += chunk_header + stored
    return total


def kernels_count(recorder):
    """Returns the counts of the kernel's ring buffer that `kmemtrace record` printed at its end."""
    def number(pattern):
        found = re.search(pattern, recorder.messages)
        return int(found[1].replace(',', '')) if found else None
    lost = 0 if 'Nothing was lost' in recorder.messages else number(r'([\d,]+) events? (?:were|was) lost')
    return Counted(number(r'([\d,]+) events in '), lost)


def count_in_file(kmemtrace, path):
    done = subprocess.run([kmemtrace, 'check', '--json', path], stdout=subprocess.PIPE, check=False)
    trace = json.loads(done.stdout)['files'][0]['trace']
    return Counted(trace['events'], trace['lost_events'])


def perfs_count(path):
    """Returns the number of samples in a perf.data, and the number that the kernel counted as lost."""
    done = subprocess.run(['perf', 'report', '--stats', '-i', path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True, encoding='utf-8', errors='replace')
    by_event = done.stdout[done.stdout.index('kmem:'):]

    def total(kind):
        return sum(map(int, re.findall(rf' {kind} events:\s+(\d+)', by_event)))

    return Counted(total('SAMPLE'), total('LOST_SAMPLES'))
