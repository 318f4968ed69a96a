#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes one system call of a command fail, then checks how the command ends and which files it leaves.

strace counts the calls of each thread and injects the error at the selected call. A run that breaks a rule is
printed with the options that repeat it. At the end a table shows the injected faults by command and call."""
import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import filecmp
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))

from calls import CALLS, REMOVING  # noqa: E402
from commands import LIVE, OFFLINE, PROGRAM, Command, prepare  # noqa: E402

INSTANCES = '/sys/kernel/tracing/instances'
MOST_SECONDS = 30
DAMAGES = {'truncated_file', 'unfinished_file', 'damaged_section', 'damaged_block', 'missing_section', 'damaged_page',
           'bad_event_format', 'torn_record', 'damaged_stream'}
# Up to this position, each call fails once with each of its errors. Later calls behave much like the first ones, so
# only a few of them fail, each with one error.
ALL_UP_TO = 6
SPARSE = 1.25
MOST_POSITION = 4000

ENDED = re.compile(r'^(\d+) +\+\+\+ killed by (SIG\w+)', re.MULTILINE)
PID = re.compile(r'^(\d+) ', re.MULTILINE)
FATAL = ('SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGSYS')


@dataclasses.dataclass(frozen=True)
class Fault:
    command: Command
    call: str
    error: str
    when: int

    def __str__(self):
        return f'--command {self.command.name} --call {self.call} --error {self.error} --when {self.when}'


def positions(most):
    """Returns the positions 1 to ALL_UP_TO, then positions at growing distances up to `most`."""
    at, seen = 1.0, []
    while at <= min(most, MOST_POSITION):
        seen.append(int(at))
        at = max(int(at) + 1, at if at < ALL_UP_TO else at * SPARSE)
    return seen


def strace(log, options, arguments, folder):
    """Returns the finished process, or None after a timeout. A timeout kills all processes of the session."""
    temporary = os.path.join(folder, 'tmp')
    environment = dict(os.environ, TMPDIR=temporary, LC_ALL='C', NO_COLOR='1')
    with open(os.path.join(folder, '..', os.path.basename(folder) + '.out'), 'w+b') as out, \
         open(os.path.join(folder, '..', os.path.basename(folder) + '.err'), 'w+b') as err:
        process = subprocess.Popen(['strace', '-f', '--seccomp-bpf', '-qq', '-e', 'signal=none', '-e', 'status=!detached', '-o', log, *options, PROGRAM, *arguments],
                                   cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   start_new_session=True)
        try:
            process.wait(MOST_SECONDS)
        except subprocess.TimeoutExpired:
            end_session(process.pid)
            process.wait()
            return None
        err.seek(0)
        return subprocess.CompletedProcess(arguments, process.returncode, '', err.read().decode(errors='replace'))


def processes_of_session(session):
    found = []
    for name in os.listdir('/proc'):
        if not name.isdigit():
            continue
        try:
            with open(f'/proc/{name}/stat', encoding='utf-8', errors='replace') as file:
                state, _, _, own = file.read().rpartition(')')[2].split()[:4]
        except OSError:
            continue
        if int(own) == session and state != 'Z':
            found.append(int(name))
    return found


def end_session(session):
    for _ in range(3):
        for pid in processes_of_session(session):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.05)


def instances_of(pids):
    if not os.path.isdir(INSTANCES):
        return []
    return [name for name in os.listdir(INSTANCES) if name.startswith('kmemtrace-') and int(name.split('-')[1]) in pids]


def alive(pids):
    found = []
    for pid in pids:
        try:
            with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as file:
                if file.read().rpartition(')')[2].split()[0] != 'Z':
                    found.append(pid)
        except OSError:
            pass
    return found


def wait_until_empty(function, seconds=5):
    end = time.monotonic() + seconds
    while (left := function()) and time.monotonic() < end:
        time.sleep(0.02)
    return left


def same(one, other):
    if os.path.isdir(one) or os.path.isdir(other):
        compared = filecmp.dircmp(one, other)
        return not (compared.left_only or compared.right_only or compared.diff_files)
    return filecmp.cmp(one, other, shallow=False)


def problem_of(path, reader, damages=DAMAGES):
    """Returns why the reader refuses the file, or which kinds of damage in `damages` the command `check` finds. None if
    the file is readable."""
    done = subprocess.run([PROGRAM, *reader, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        return f'{reader[0]} ends with {done.returncode}: {done.stderr.decode(errors="replace")[:200]}'
    if reader[0] != 'check':
        return None
    found = {finding['kind'] for finding in json.loads(done.stdout)['files'][0]['findings']}
    return f'check finds {found & damages}' if found & damages else None


class Reference:
    """A run without a fault: its outputs, and how often each thread made each call."""

    def __init__(self, command, folder):
        self.command, self.folder = command, os.path.join(folder, command.name + '.good')
        os.makedirs(os.path.join(self.folder, 'tmp'))
        log = self.folder + '.log'
        done = strace(log, ['-e', 'trace=' + ','.join('?' + call for call in CALLS)], command.arguments, self.folder)
        if done is None or done.returncode != command.status:
            raise AssertionError(f'{command.name} without a fault: {done and (done.returncode, done.stderr)}')
        # Two kinds of calls get no faults. Those before the first munmap() are made by the dynamic loader. Those after
        # another execve() are made by the recorded command.
        self.first, self.most = collections.Counter(), collections.Counter()
        counts, loading, others = collections.Counter(), True, set()
        with open(log, encoding='utf-8', errors='replace') as file:
            for line in file:
                if match := re.match(r'(\d+) +(\w+)\(', line):
                    call = match[2]
                    if call == 'execve' and not loading:
                        others.add(match[1])
                    if match[1] in others:
                        continue
                    counts[match.groups()] += 1
                    self.first[call] += loading
                    self.most[call] = max(self.most[call], counts[match.groups()])
                    loading = loading and call != 'munmap'
        os.rmdir(os.path.join(self.folder, 'tmp'))

    def faults(self):
        for call, most in sorted(self.most.items()):
            errors = CALLS.get(call, ())
            for number, position in enumerate(positions(most - self.first[call])):
                for error in errors if position <= ALL_UP_TO else errors[number % len(errors):][:1]:
                    yield Fault(self.command, call, error, self.first[call] + position)

    def outputs(self):
        return sorted(os.listdir(self.folder))


class Run:
    """A run with a fault; `wrong` lists the rules that the run broke."""

    def __init__(self, fault, reference, folder):
        self.fault, self.reference, self.command = fault, reference, fault.command
        self.folder = tempfile.mkdtemp(dir=folder, prefix='run.')
        self.log = self.folder + '.log'
        self.wrong = []
        os.mkdir(os.path.join(self.folder, 'tmp'))
        for name in reference.outputs():
            self.copy(name)
        try:
            self.run()
        finally:
            for path in (self.log, self.folder + '.out', self.folder + '.err'):
                if os.path.exists(path):
                    os.remove(path)
            shutil.rmtree(self.folder)

    def copy(self, name):
        source, target = os.path.join(self.reference.folder, name), os.path.join(self.folder, name)
        shutil.copytree(source, target) if os.path.isdir(source) else shutil.copy2(source, target)

    def run(self):
        fault = self.fault
        inject = f'inject={fault.call}:error={fault.error}:when={fault.when}'
        # An existing CTF folder is not replaced, so remove it: the command would otherwise fail for that reason.
        if self.command.output.endswith('.ctf'):
            shutil.rmtree(os.path.join(self.folder, self.command.output))
        done = strace(self.log, ['-e', f'trace={fault.call}', '-e', inject], self.command.arguments, self.folder)
        with open(self.log, encoding='utf-8', errors='replace') as file:
            log = file.read()
        self.injected = log.count('(INJECTED)')
        self.pids = {int(pid) for pid in PID.findall(log)}
        if done is None:
            self.wrong.append(f'still running after {MOST_SECONDS} s')
            wait_until_empty(lambda: instances_of(self.pids), 2)
            return
        self.check_end(done, log)
        self.check_outputs(done)
        self.check_leftovers()

    def check_end(self, done, log):
        fatal = [name for _, name in ENDED.findall(log) if name in FATAL]
        if fatal or done.returncode < 0:
            self.wrong.append(f'ended by {fatal or done.returncode}: {done.stderr[-300:]}')
        elif done.returncode not in (0, self.command.status):
            message = re.search(r'error: .{10,}|exited with|killed by signal', done.stderr)
            if not message:
                self.wrong.append(f'exit status {done.returncode} without an error message: {done.stderr[-300:]!r}')
        if 'terminate called' in done.stderr or 'Internal error' in done.stderr:
            self.wrong.append(f'the C++ runtime ended it: {done.stderr[-300:]}')

    def check_outputs(self, done):
        output = self.command.output
        if not output:
            return
        path = os.path.join(self.folder, output)
        if not os.path.exists(path):
            if done.returncode == 0 or not output.endswith('.ctf'):
                self.wrong.append(f'{output} is gone, exit status {done.returncode}')
            return
        good = os.path.join(self.reference.folder, output)
        if self.command.live or output.endswith(('.kmt', '.dat')):
            is_old = same(path, good)
            problem = None if is_old or not output.endswith(('.kmt', '.dat')) else problem_of(path, self.command.reader)
            if problem:
                self.wrong.append(f'{output}: {problem}')
            if self.command.keeps and not is_old and not self.kept():
                self.wrong.append(f'the earlier {output} is not kept')
        elif not same(path, good) and not self.is_whole(path):
            self.wrong.append(f'{output} is neither the earlier nor a complete one, exit status {done.returncode}')

    def kept(self):
        output = self.command.output
        old = os.path.join(self.folder, output + '.old')
        return os.path.exists(old) and same(old, os.path.join(self.reference.folder, output))

    def is_whole(self, path):
        """True if the file ends as a complete file does. Its content is not compared, because an output may differ from
        the reference after a failed read, for instance of function names."""
        with open(path, 'rb') as file:
            text = file.read()
        ends = {'.html': b'</html>', '.svg': b'</svg>', '.json': b'}'}
        end = ends.get(os.path.splitext(path)[1])
        return end is not None and text.rstrip().endswith(end)

    def check_leftovers(self):
        left = wait_until_empty(lambda: alive(self.pids))
        if left:
            self.wrong.append(f'processes are left: {left}')
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        removed = self.fault.call in REMOVING
        instances = wait_until_empty(lambda: instances_of(self.pids))
        for name in instances:
            os.rmdir(f'{INSTANCES}/{name}')
        if instances and not removed:
            self.wrong.append(f'instances are left: {instances}')
        known = {'tmp', *self.reference.outputs(), self.command.output}
        known |= {name + '.old' for name in known} if self.command.keeps else set()
        litter = [name for name in os.listdir(self.folder) if name not in known and not re.fullmatch(r'out\.\d{4}\.kmt', name)]
        litter += [f'tmp/{name}' for name in os.listdir(os.path.join(self.folder, 'tmp'))]
        if litter and not removed:
            self.wrong.append(f'files are left: {litter}')


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('group', choices=('offline', 'live'))
    parser.add_argument('--share', type=int, default=1, metavar='N', help='inject every Nth fault only')
    parser.add_argument('--at-least', type=int, default=1, metavar='N', help='fail if fewer faults were injected')
    parser.add_argument('--command', help='only this command')
    parser.add_argument('--call', help='only this system call')
    parser.add_argument('--error', help='only this error')
    parser.add_argument('--when', type=int, help='only this position')
    return parser.parse_args()


def can_record():
    if os.geteuid() == 0 and not os.path.isdir(INSTANCES):
        subprocess.run(['mount', '-t', 'tracefs', 'tracefs', os.path.dirname(INSTANCES)], check=False)
    return os.geteuid() == 0 and os.path.isdir(INSTANCES)


def chosen(options, references):
    faults = [fault for reference in references for fault in reference.faults()]
    for key in ('call', 'error', 'when'):
        if (wanted := getattr(options, key)) is not None:
            faults = [fault for fault in faults if getattr(fault, key) == wanted]
    return faults[options.share // 2::options.share]


def print_table(counts):
    print(f'{"command":<20} {"call":<24} {"faults":>6}')
    for (command, call), count in sorted(counts.items()):
        print(f'{command:<20} {call:<24} {count:6}')
    print(f'{sum(counts.values())} faults were injected')


def main():
    options = parse()
    if options.group == 'live' and not can_record():
        print('cannot record here: this needs root and tracefs')
        return 1 if os.environ.get('KMEMTRACE_REQUIRE_LIVE') == '1' else 77
    commands = [command for command in (LIVE if options.group == 'live' else OFFLINE)
                if options.command in (None, command.name)]
    counts, failures = collections.Counter(), 0
    with tempfile.TemporaryDirectory(prefix='kmemtrace-faults-') as folder:
        prepare(folder)
        references = {command: Reference(command, folder) for command in commands}
        faults = chosen(options, references.values())
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for run in pool.map(lambda fault: Run(fault, references[fault.command], folder), faults):
                counts[run.command.name, run.fault.call] += bool(run.injected)
                if run.wrong:
                    failures += 1
                    print(f'{run.fault}\n  ' + '\n  '.join(run.wrong), flush=True)
    print_table(counts)
    if failures:
        print(f'{failures} runs broke a rule')
    return int(failures > 0 or sum(counts.values()) < options.at_least)


if __name__ == '__main__':
    sys.exit(main())
