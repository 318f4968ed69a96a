#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests system calls in LTTng traces, which have separate events for the start and end of each call. Compares
`report --by syscall` with the call of each allocation according to babeltrace2's text. Given the path of a trace,
prints the differences."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from kmemtrace import report, run  # noqa: E402
from lttng_writer import Writer, integer  # noqa: E402

LINE = re.compile(r'^\[\d+\.\d{9}\] (?:\S+ )?(\w+): \{ cpu_id = (\d+) \},(?: \{ (?!\}).*?\},)? \{ (.*) ?\}$')
ALLOCATIONS = ('kmem_kmalloc', 'kmem_kmalloc_node', 'kmem_cache_alloc', 'kmem_cache_alloc_node')
CALL = re.compile(r'(?:compat_)?syscall_(entry|exit)_(\w+)')
ALIASES = {'newstat': 'stat', 'newlstat': 'lstat', 'newfstat': 'fstat', 'newuname': 'uname', 'umount': 'umount2',
           'sendfile64': 'sendfile'}
OUTSIDE = '[outside of recorded system calls]'


def number(fields, name):
    match = re.search(rf'\b{name} = (-?\w+)', fields)
    return int(match[1], 0) if match else None


def allocations_by_call(path):
    """Returns {system call: number of allocations}. The running task of each CPU is tracked to find the system call of
    an allocation."""
    text = subprocess.run(['babeltrace2', '--clock-seconds', '--no-delta', path], stdout=subprocess.PIPE, check=True,
                          encoding='utf-8', errors='replace').stdout
    running, inside, ended, interrupts = {}, {}, set(), collections.defaultdict(list)
    kernel_threads, found = {0, 2}, collections.Counter()
    for line in text.splitlines():
        match = LINE.match(line)
        if not match:
            raise AssertionError(line)
        name, cpu, fields = match[1], int(match[2]), match[3]
        tid = running.get(cpu, -1)
        if name == 'sched_switch':
            running[cpu] = number(fields, 'next_tid')
        elif name in ('irq_softirq_entry', 'irq_handler_entry'):
            interrupts[cpu].append('[softirq]' if 'softirq' in name else '[hardirq]')
        elif name in ('irq_softirq_exit', 'irq_handler_exit'):
            if interrupts[cpu]:
                interrupts[cpu].pop()
        elif name == 'sched_process_exit':
            ended.add(number(fields, 'tid'))
        elif name == 'lttng_statedump_process_state':
            if number(fields, 'ppid') == 2:
                kernel_threads.add(number(fields, 'tid'))
        elif call := CALL.fullmatch(name):
            inside[tid] = (f'system call {number(fields, "id")}' if call[2] == 'unknown' else
                           ALIASES.get(call[2], call[2])) if call[1] == 'entry' else OUTSIDE
        elif name in ALLOCATIONS and number(fields, 'ptr'):
            if interrupts[cpu]:
                where = max(interrupts[cpu], key=lambda one: one == '[hardirq]')
            elif inside.get(tid, OUTSIDE) != OUTSIDE:
                where = inside[tid]
            elif tid in kernel_threads:
                where = '[kernel thread]'
            else:
                where = '[exit]' if tid in ended else inside.get(tid)
            found[where] += 1
    return dict(found)


def reported(path):
    rows = report(path, '--by', 'syscall', exit_codes=(0, 1))['groups']['slab']['rows']
    return {row['keys']['syscall']: row['allocations'] for row in rows if row['allocations']}


INT, LONG = integer(32, signed=True), integer(64)
ALLOCATION = [(f'{integer(64, base=16)} _call_site', 'Q'), (f'{integer(64, base=16)} _ptr', 'Q'),
              (f'{LONG} _bytes_req', 'Q'), (f'{LONG} _bytes_alloc', 'Q'), (f'{integer(32)} _gfp_flags', 'I')]
COMM = 'integer { size = 8; align = 8; signed = 0; encoding = UTF8; base = 10; }'
SWITCH = [(f'{COMM} _prev_comm[16]', None), (f'{INT} _prev_tid', 'i'), (f'{INT} _prev_prio', 'i'),
          (f'{integer(64, signed=True)} _prev_state', 'q'), (f'{COMM} _next_comm[16]', None), (f'{INT} _next_tid', 'i'),
          (f'{INT} _next_prio', 'i')]
STATE = [(f'{INT} _{name}', 'i') for name in ('tid', 'vtid', 'pid', 'vpid', 'ppid', 'vppid')] + [
    (f'{COMM} _name[16]', None)]
RETURN = [(f'{integer(64, signed=True)} _ret', 'q')]
# Declared as in lttng-modules: named arguments, and `id` if the name of the call is unknown.
EVENTS = {'kmem_kmalloc': (1, ALLOCATION), 'sched_switch': (2, SWITCH), 'lttng_statedump_process_state': (3, STATE),
          'sched_process_exit': (4, [(f'{COMM} _comm[16]', None), (f'{INT} _tid', 'i'), (f'{INT} _prio', 'i')]),
          'irq_softirq_entry': (5, [(f'{integer(32)} _vec', 'I')]), 'irq_softirq_exit': (6, [(f'{integer(32)} _vec', 'I')]),
          'syscall_entry_openat': (7, [(f'{INT} _dfd', 'i'), ('string _filename', None), (f'{INT} _flags', 'i')]),
          'syscall_exit_openat': (8, RETURN), 'compat_syscall_entry_newstat': (9, [('string _filename', None)]),
          'compat_syscall_exit_newstat': (10, RETURN), 'syscall_entry_unknown': (11, [(f'{integer(32)} _id', 'I')]),
          'syscall_exit_unknown': (12, [(f'{integer(32)} _id', 'I'), *RETURN]),
          'syscall_entry_quotactl_fd': (40, [(f'{integer(32)} _fd', 'I'), (f'{integer(32)} _id', 'I')]),
          'syscall_exit_quotactl_fd': (41, RETURN), 'syscall_entry_exit_group': (42, [(f'{INT} _error_code', 'i')])}


class LttngSyscalls(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, path):
        writer, events, comms = Writer(path, EVENTS), [], {0: 'swapper/0', 77: 'worker', 78: 'other', 55: 'kthing', 99: 'x'}
        self.tid, self.allocated = 0, 0

        def tell(name, *values):
            events.append((1000 + 10 * len(events), name, values))

        def allocate(times):
            for _ in range(times):
                self.allocated += 1
                tell('kmem_kmalloc', 0xffffffff81200000, 0xffff888000001000 + 64 * self.allocated, 50, 64, 0xcc0)

        def comm(tid):
            return comms[tid].encode().ljust(16, b'\0')

        def switch(tid):
            tell('sched_switch', comm(self.tid), self.tid, 20, 0, comm(tid), tid, 20)
            self.tid = tid

        for tid, parent in ((77, 1), (55, 2)):
            tell('lttng_statedump_process_state', tid, tid, tid, tid, parent, parent, comm(tid))
        switch(77)
        allocate(1)  # the system call of the task is not yet known
        tell('syscall_entry_openat', -100, b'/etc/passwd\0', 0)
        allocate(2)
        switch(78)
        tell('compat_syscall_entry_newstat', b'/\0')
        allocate(4)
        tell('irq_softirq_entry', 9)
        allocate(8)
        tell('irq_softirq_exit', 9)
        allocate(16)
        tell('compat_syscall_exit_newstat', 0)
        allocate(32)
        switch(77)
        allocate(64)
        tell('syscall_exit_openat', 3)
        tell('syscall_entry_unknown', 4711)
        allocate(128)
        tell('syscall_exit_unknown', 4711, -38)
        tell('syscall_entry_quotactl_fd', 3, 4711)
        allocate(256)
        tell('syscall_exit_quotactl_fd', 0)
        switch(55)
        allocate(512)
        switch(0)
        allocate(1024)
        switch(78)
        tell('sched_process_exit', comm(78), 78, 20)
        allocate(2048)
        switch(77)
        tell('syscall_entry_exit_group', 0)
        tell('sched_process_exit', comm(77), 77, 20)
        allocate(4096)
        writer.packet(0, events)

    def test_calls_have_separate_events(self):
        path = os.path.join(self.folder, 'session/kernel')
        self.write(path)
        wanted = {None: 1, 'openat': 2 + 64, 'stat': 4 + 16, '[softirq]': 8, OUTSIDE: 32, 'system call 4711': 128,
                  'quotactl_fd': 256, '[kernel thread]': 512 + 1024, '[exit]': 2048, 'exit_group': 4096}
        self.assertEqual(wanted, allocations_by_call(path))
        self.assertEqual(wanted, reported(path))
        for name in ('x.kmt', 'x.dat', 'x.ctf', 'again.ctf'):
            source, to = (os.path.join(self.folder, one) for one in ('x.kmt' if name == 'again.ctf' else 'session', name))
            done = run('convert', source, to)
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertEqual(wanted, reported(to), name)
        written = subprocess.run(['babeltrace2', os.path.join(self.folder, 'again.ctf/kernel')], stdout=subprocess.PIPE,
                                 check=True, encoding='utf-8').stdout
        for name in EVENTS:
            self.assertIn(f' {name}: ', written)


def main():
    if len(sys.argv) < 2 or not os.path.isdir(sys.argv[1]):
        unittest.main()
    wanted, got = allocations_by_call(sys.argv[1]), reported(sys.argv[1])
    print(json.dumps({str(name): [wanted.get(name), got.get(name)] for name in {*wanted, *got}
                      if wanted.get(name) != got.get(name)}, indent=1), sum(wanted.values()), len(wanted))


if __name__ == '__main__':
    main()
