#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that every event has the kernel stack that `trace-cmd report` prints after it. The expected addresses, and
the flags that assign a stack to its event, are trace-cmd's."""
import collections
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import tracedat  # noqa: E402
from kmemtrace import data, report, run  # noqa: E402

PRINT_STACKS = os.environ.get('PRINT_STACKS') or sys.exit('PRINT_STACKS must name the program that prints stacks')
# "     sh-208     1.....    14.342490654: kmalloc:   …": CPU and flags; then a line "=> NAME (ADDRESS)" for each
# caller.
LINE = re.compile(r'.*-(?P<tid>\d+)\s+(?P<cpu>\d+)(?P<flags>\S+)\s+(?P<s>\d+)\.(?P<ns>\d{9}):\s+(?P<name>\w+):')
CALLER = re.compile(r'=> (?:.* \()?([0-9a-f]+)\)?$')


class Event:
    def __init__(self, match):
        self.cpu, self.name = int(match['cpu']), match['name']
        self.ns = int(match['s']) * 10**9 + int(match['ns'])
        self.context = match['tid'], match['flags']
        self.stack = []

    def line(self):
        return ' '.join([f'{self.cpu} {self.ns} {self.name}', *self.stack])


def expected(path):
    """Returns the lines of trace-cmd as {cpu: [line]}, and the number of stacks that belong to no event."""
    text = subprocess.run(['trace-cmd', 'report', '-t', '-l', path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True, encoding='utf-8', errors='replace').stdout
    events = collections.defaultdict(list)
    last = None
    for line in text.splitlines():
        if match := LINE.match(line):
            last = Event(match)
            events[last.cpu].append(last)
        elif match := CALLER.match(line):
            last.stack.append(match[1])
    unmatched = 0
    for of_cpu in events.values():
        bare = []
        for event in of_cpu:
            if event.name != 'kernel_stack':
                bare.append(event)
                continue
            owner = next((other for other in reversed(bare) if other.context == event.context), None)
            if owner is None:
                unmatched += 1
            else:
                owner.stack, event.stack = event.stack, []  # the stack is shown once, with its event
                bare.remove(owner)
    return {cpu: [event.line() for event in of_cpu] for cpu, of_cpu in events.items()}, unmatched


def printed(path):
    lines = subprocess.run([PRINT_STACKS, path], stdout=subprocess.PIPE, check=True, encoding='utf-8').stdout.splitlines()
    events = collections.defaultdict(list)
    for line in lines[:-1]:
        events[int(line.split()[0])].append(line)
    return events, int(lines[-1].split()[1])


class Stacks(unittest.TestCase):
    def check(self, path):
        want, unmatched = expected(path)
        got, got_unmatched = printed(path)
        self.assertEqual(sorted(want), sorted(got))
        for cpu in want:
            self.assertEqual(want[cpu], got[cpu])
        self.assertEqual(unmatched, got_unmatched)
        lines = [line for of_cpu in want.values() for line in of_cpu]
        with_stack = [line for line in lines if ' kernel_stack' not in line and len(line.split()) > 3]
        reported = report(path, exit_codes=(0, 1))
        self.assertEqual(len(lines), reported['trace']['events'])
        self.assertEqual(sum(' kernel_stack' in line for line in lines), reported['events']['kernel_stack'])
        stacks = {tuple(line.split()[3:]) for line in lines} - {()}
        self.assertEqual(len(stacks), reported['trace']['stacks'])
        return with_stack

    def check_all(self, name, least):
        """Checks the trace in its original form and as .kmt."""
        self.assertGreater(len(self.check(data(name))), least)
        with tempfile.TemporaryDirectory() as folder:
            small = os.path.join(folder, 'x.kmt')
            self.assertEqual(0, run('convert', data(name), small).returncode)
            self.assertEqual(printed(data(name)), printed(small))

    def test_big_endian(self):
        self.check_all('s390x/trace.stack.dat', 450)

    def test_amd64(self):
        self.check_all('amd64-stacks/trace.dat', 1000)

    def test_the_traces_have_nested_interrupts(self):
        """The trace must have an interrupt between an event and its stack; otherwise these tests would prove little."""
        events, _ = printed(data('amd64-stacks/trace.dat'))
        names = [[line.split()[2] for line in of_cpu] for of_cpu in events.values()]
        self.assertTrue(any(first != 'kernel_stack' and second != 'kernel_stack'
                            for of_cpu in names for first, second in zip(of_cpu, of_cpu[1:])))

    def test_traces_without_stacks(self):
        self.assertEqual(0, report(data('s390x/trace.dat'))['trace']['stacks'])


if __name__ == '__main__':
    unittest.main()
