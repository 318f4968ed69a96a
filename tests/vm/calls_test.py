#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records calls of kernel functions on a stock Debian kernel in a virtual machine. A test program writes down the
arguments and results of its calls, and the recording must agree. No argument, string or result may belong to another
call, although tasks move between CPUs.
  calls_test.py KERNEL BACKEND [KERNEL ARGUMENT]"""
import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest

from machine import run_script

KERNEL, BACKEND, APPEND = (sys.argv[1:] + [''])[:3]
del sys.argv[1:]
KMEMTRACE = os.environ['KMEMTRACE']
KNOWN_CALLS = os.environ['KNOWN_CALLS']
MOST_TEXT = 255  # longest string that is recorded
READS_LATE = BACKEND == 'bpf'  # a return probe does not know the arguments of the call


def known_calls(path):
    """Returns the calls that the program made: for each task, a list of (function, arguments, result)."""
    tasks = collections.defaultdict(list)
    with open(path, encoding='ascii') as file:
        for line in file:
            tid, name, *values, result = line.rstrip('\n').split('\t')
            if name == 'read':
                call = 'ksys_read', {'fd': int(values[0]), 'buf': hex(int(values[1])), 'count': number(values[2])}
            elif name == 'lseek':
                call = '__x64_sys_lseek', dict(zip(('regs->di', 'regs->si', 'regs->dx'), map(unsigned, values)))
            elif name == 'openat':
                call = 'do_sys_openat2', {'dfd': int(values[0]), 'filename': values[1][:MOST_TEXT]}
            elif name == 'mmap':
                call = 'vm_mmap_pgoff', dict(zip(('addr', 'len', 'prot', 'flag', 'pgoff'), map(number, values)))
            else:
                call = 'kernel_clone', {'args->flags': number(values[0])}
            tasks[int(tid)].append((*call, int(result)))
    return tasks


def unsigned(text):
    return number(str(int(text) % 2**64))


def number(text):
    """Converts a number to the form used in the JSON, where numbers that a double cannot represent are strings."""
    value = int(text)
    return value if abs(value) <= 2**53 else str(value) if value < 0 else hex(value)


def recorded_calls(graph, known):
    """Returns the recorded calls of the known tasks, in the form of known_calls(). Excludes calls whose start was
    missed, and mappings that the C library makes at any address."""
    tasks = collections.defaultdict(list)
    for call in graph['calls']:
        if call['tid'] not in known or call['arguments'] is None:
            continue
        if call['function'] == 'vm_mmap_pgoff' and call['arguments']['addr'] == 0:
            continue
        arguments = {name: None if name in call['unreadable'] else value for name, value in call['arguments'].items()
                     if name not in ('file', 'how', 'args', 'regs')}
        result = int(call['return_value'], 16) if call['return_value'] else None
        tasks[call['tid']].append((call['function'], arguments, as_signed(result)))
    return tasks


def as_signed(value):
    """Sign-extends the result. Results of type int use half of the register."""
    if value is None:
        return None
    if value >= 1 << 63:
        return value - (1 << 64)
    return value - (1 << 32) if 0xfffff000 <= value < 1 << 32 else value


def is_same(passed, seen):
    """True if both calls are the same. The recorded result may be unknown, since the end of a call may have been
    missed. Only a name on an untouched page may be unreadable."""
    arguments = dict(passed[1])
    if not READS_LATE and arguments.get('filename', '').startswith('untouched-'):
        arguments['filename'] = None
    return (passed[0], arguments) == seen[:2] and seen[2] in (None, passed[2])


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='kmemtrace-vm-'))
        run_script('calls.sh', cls.out, '--kernel', KERNEL, '--file', f'{KNOWN_CALLS}:/bin/known_calls', '--append',
                   f'backend={BACKEND} {APPEND}')
        cls.known = known_calls(os.path.join(cls.out, 'known.txt'))
        cls.graph = cls.show()
        cls.recorded = recorded_calls(cls.graph, cls.known)
        found = subprocess.run([KMEMTRACE, 'check', '--json', os.path.join(cls.out, 'calls.kmt')],
                               stdout=subprocess.PIPE, encoding='utf-8', check=False)
        cls.lost = json.loads(found.stdout)['files'][0]['trace']['lost_events']

    @classmethod
    def show(cls, *options):
        done = subprocess.run([KMEMTRACE, 'graph', os.path.join(cls.out, 'calls.kmt'), '--json', '--args', '--ret',
                               '--limit', '0', *options], stdout=subprocess.PIPE, encoding='utf-8', check=True)
        return json.loads(done.stdout)

    def test_no_argument_belongs_to_another_call(self):
        self.assertGreaterEqual(sum(map(len, self.known.values())), 100000)
        missing = 0
        for tid, calls in self.known.items():
            passed = iter(calls)
            for seen in self.recorded[tid]:
                for call in passed:
                    if is_same(call, seen):
                        missing += seen[2] is None
                        break
                    missing += 1
                else:
                    self.fail(f'task {tid} was seen to call {seen}')
            missing += len(list(passed))
        self.assertLessEqual(missing, self.lost, 'calls are missing, and no loss is reported')
        self.assertLess(missing, 1000)

    @unittest.skipIf(BACKEND != 'auto', 'a back end was asked for')
    def test_trampolines_that_miss_calls_are_not_used(self):
        """On Debian's preemptible 6.1, BPF programs would miss calls, so kprobe events must be used."""
        with open(os.path.join(self.out, 'graph.err'), encoding='utf-8') as file:
            messages = file.read()
        self.assertIn('were recorded by kprobe events', messages)
        self.assertRegex(messages, r'preempts\s+itself')

    def test_no_probe_remains(self):
        self.assertEqual(0, os.path.getsize(os.path.join(self.out, 'probes.left')))

    def test_tasks_moved(self):
        """The tasks must change CPUs often; otherwise the test would prove little."""
        cpus = collections.defaultdict(list)
        for call in self.graph['calls']:
            if call['tid'] in self.known:
                cpus[call['tid']].append(call['cpu'])
        for tid, seen in cpus.items():
            moves = sum(one != next for one, next in zip(seen, seen[1:]))
            self.assertGreater(moves, 100, f'task {tid}')

    def test_errors_have_their_names(self):
        """--errors-only must show only calls that failed."""
        text = subprocess.run([KMEMTRACE, 'graph', os.path.join(self.out, 'calls.kmt'), '--args', '--errors-only',
                               '--limit', '2000', '-F', 'do_sys_openat2'], stdout=subprocess.PIPE, encoding='utf-8',
                              check=True).stdout
        lines = [line for line in text.splitlines() if 'do_sys_openat2(' in line and 'missing-' in line]
        self.assertGreater(len(lines), 1000)
        for line in lines:
            self.assertRegex(line, r'= -(2 \(ENOENT\)|9 \(EBADF\)|36 \(ENAMETOOLONG\))')
            self.assertEqual('"/' in line, '(EBADF)' not in line, line)

    def test_long_names_are_marked_as_cut(self):
        names = [(call['arguments']['filename'], call['cut']) for call in self.graph['calls']
                 if call['function'] == 'do_sys_openat2' and call['arguments'] and call['tid'] in self.known]
        self.assertGreater(sum(cut == ['filename'] for _, cut in names), 100)
        for name, cut in names:
            self.assertEqual(['filename'] if len(name) == MOST_TEXT else [], cut, name)

    @unittest.skipIf(READS_LATE, 'they are read late')
    def test_names_on_untouched_pages_are_unreadable(self):
        """Names on untouched pages must be unreadable. Another test checks that all other names are readable."""
        unreadable = [call for call in self.graph['calls'] if call['arguments'] and call['unreadable']]
        of_known = [call for call in unreadable if call['tid'] in self.known]
        untouched = [call for calls in self.known.values() for call in calls
                     if call[1].get('filename', '').startswith('untouched-')]
        self.assertGreater(len(of_known), 100)
        self.assertLessEqual(len(untouched) - self.lost, len(of_known))
        self.assertEqual({('do_sys_openat2', ('filename',))},
                         {(call['function'], tuple(call['unreadable'])) for call in of_known})
        self.assertEqual({'0x7'}, {call['arguments']['filename'][:3] for call in of_known})
        self.assertEqual([], [call for call in self.graph['calls'] if call['arguments'] and call['read_late']])

    @unittest.skipUnless(READS_LATE, 'kprobe events read nothing late')
    def test_names_on_untouched_pages_are_read_late(self):
        """Names on untouched pages must be read at the end of the call. Another test checks that they are correct."""
        late = [call for call in self.graph['calls'] if call.get('read_late')]
        self.assertGreater(len(late), 100)
        of_known = [call for call in late if call['tid'] in self.known]
        self.assertEqual({('do_sys_openat2', 'filename')},
                         {(call['function'], name) for call in of_known for name in call['read_late']})
        self.assertGreater(sum(call['arguments']['filename'].startswith('untouched-') for call in of_known), 100)

    def test_condition_selects_one_call(self):
        tid, calls = next(iter(self.recorded.items()))
        wanted = [call for call in calls if call[0] == 'ksys_read' and call[2] == -9][77]
        [found] = self.show('--where', f'count=={wanted[1]["count"]}', '-p', str(tid))['calls']
        self.assertEqual(wanted[1], found['arguments'])
        self.assertEqual(-9, found['error'])

    def test_allocations_are_inside_their_calls(self):
        """A name that is looked up is copied into a separate object, and a new process needs many objects. If events
        were missed, a few calls lack their objects."""
        opened = [call for call in self.graph['calls'] if call['function'] == 'do_sys_openat2' and
                  call['tid'] in self.known]
        with_name = [call for call in opened if call['inside'].get('slab', {}).get('allocations', 0) > 0]
        # Kernels with preempt=lazy preempt the programs of memory events, and report their missed events as lost.
        self.assertLess(len(opened) - len(with_name), max(len(opened) * 0.02, min(self.lost, len(opened) * 0.1)))
        self.assertGreater(len(opened), 100)
        made = [call for call in self.graph['calls'] if call['function'] == 'kernel_clone' and
                call['tid'] in self.known]
        self.assertGreater(len(made), 100)
        with_task = [call for call in made if call['inside'].get('slab', {}).get('bytes', 0) > 10000]
        self.assertGreater(len(with_task), len(made) * 0.95)


if __name__ == '__main__':
    unittest.main()
