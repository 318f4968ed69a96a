#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that running commands keep only few privileges, according to /proc. Checks that recording needs no root,
only a few capabilities."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import unittest

from recording import PROGRAM, LiveTest, wait_until

# include/uapi/linux/capability.h
NUMBERS = {'chown': 0, 'dac_override': 1, 'dac_read_search': 2, 'fowner': 3, 'net_bind_service': 10, 'sys_module': 16,
           'ipc_lock': 14, 'sys_ptrace': 19, 'sys_admin': 21, 'sys_nice': 23, 'sys_resource': 24, 'syslog': 34, 'perfmon': 38, 'bpf': 39}
UNITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'packaging', 'systemd')
READING = {'dac_override', 'dac_read_search', 'syslog'}
WATCHING = READING | {'chown', 'fowner', 'bpf', 'perfmon', 'sys_nice', 'net_bind_service'}


def mask(names):
    return sum(1 << NUMBERS[name] for name in names)


def capabilities(pid):
    """Returns the permitted and effective capabilities of each thread. Skips threads that end meanwhile."""
    masks = {}
    for thread in os.listdir(f'/proc/{pid}/task'):
        try:
            with open(f'/proc/{pid}/task/{thread}/status', encoding='utf-8') as status:
                fields = dict(line.rstrip('\n').split(':\t') for line in status if line.startswith('Cap'))
        except (FileNotFoundError, ProcessLookupError):
            continue
        masks[thread] = int(fields['CapPrm'], 16) | int(fields['CapEff'], 16)
    return masks


def no_new_privileges(pid):
    """Returns the NoNewPrivs flag, which must be set before a Landlock ruleset can be enforced."""
    with open(f'/proc/{pid}/status', encoding='utf-8') as status:
        return re.search(r'^NoNewPrivs:\t(\d)$', status.read(), re.MULTILINE)[1]


class Privileges(LiveTest):
    def begin(self, *arguments):
        process = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, encoding='utf-8')
        self.addCleanup(self.end, process)
        return process

    def without_root(self, capabilities, *arguments):
        program = self.path('program')
        if not os.path.exists(program):
            shutil.copy(PROGRAM, program)
            os.chmod(self.directory, 0o777)
            os.chmod(program, 0o755)
        return ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', f'--inh-caps={capabilities}',
                f'--ambient-caps={capabilities}', program, *arguments]

    def expect(self, process, allowed):
        """Waits until each thread has the allowed capabilities and no others. Capabilities that this test itself
        lacks are not expected."""
        wanted = mask(allowed) & capabilities('self')[str(os.getpid())]
        wait_until(lambda: process.poll() is not None or set(capabilities(process.pid).values()) == {wanted}, 30)
        self.assertIsNone(process.poll())
        self.assertEqual({hex(one) for one in capabilities(process.pid).values()}, {hex(wanted)})

    def test_watching(self):
        for command in (('stat', '--interval', '100ms'), ('profile', '-o', self.path('p.kmt')),
                        ('serve', '--prometheus', '127.0.0.1:19781')):
            with self.subTest(command[0]):
                process = self.begin(*command)
                self.expect(process, WATCHING)
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=60)
                self.assertEqual(process.returncode, 0)

    def test_units_drop_the_privileges_for_loading(self):
        for unit in ('serve', 'profile'):
            with open(f'{UNITS}/kmemtrace-{unit}.service', encoding='utf-8') as file:
                line = re.search('^AmbientCapabilities=(.*)$', file.read(), re.MULTILINE)[1]
            given = {word.removeprefix('cap_') for word in line.lower().split()}
            self.assertIn('sys_admin', given)
            with self.subTest(unit):
                options = ('--prometheus', '127.0.0.1:19782') if unit == 'serve' else ('-o', self.path('unit.kmt'))
                process = subprocess.Popen(self.without_root(','.join(f'+{name}' for name in given), unit, *options),
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                           encoding='utf-8')
                self.addCleanup(self.end, process)
                self.expect(process, given - {'sys_admin'})

    def test_recording(self):
        process = self.begin('record', '-o', self.trace)
        self.expect(process, WATCHING | {'sys_admin', 'sys_ptrace', 'sys_resource', 'ipc_lock'})
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)

    def test_reading(self):
        fifo = self.path('nothing as yet')
        os.mkfifo(fifo)
        wanted = '1'
        silent = self.enterContext(socket.create_server(('127.0.0.1', 0)))
        for command in (('report', '-'), ('graph', '-'), ('graph', fifo), ('snapshot', fifo), ('profile', '--show', fifo),
                        ('fleet', 'traces', '--server', f'http://127.0.0.1:{silent.getsockname()[1]}/')):
            with self.subTest(command):
                process = self.begin(*command)
                self.expect(process, READING)
                wait_until(lambda: no_new_privileges(process.pid) == wanted, 2)
                if command[0] == 'report':
                    wanted = no_new_privileges(process.pid)  # 0 if the kernel lacks Landlock
                self.assertEqual(no_new_privileges(process.pid), wanted)

    def test_command_keeps_all_privileges_of_root(self):
        with open('/proc/self/status', encoding='utf-8') as status:
            mine = [line for line in status if line.startswith('CapEff')][0]
        done = subprocess.run([PROGRAM, 'record', '-o', self.trace, '--', 'grep', 'CapEff', '/proc/self/status'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8', check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(mine, done.stdout)

    def test_recording_needs_three_capabilities(self):
        three = '+bpf,+perfmon,+dac_read_search'

        def record(*options, capabilities=three):
            return subprocess.run(self.without_root(capabilities, 'record', *options, '-o', self.trace, '--', 'ls', '-R',
                                                 '/usr/share'),
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding='utf-8', check=False)

        done = record()
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn('--backend bpf', done.stderr)
        for options, capabilities in (('--filter', 'kmem:kmalloc:bytes_req > 1'), three), ((), '+dac_read_search'):
            self.assertNotIn('--backend bpf', record(*options, capabilities=capabilities).stderr)
        done = record('--backend', 'bpf')
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([PROGRAM, 'report', '--json', self.trace], stdout=subprocess.PIPE, check=True)
        self.assertGreater(json.loads(done.stdout)['slab']['allocations'], 100)


if __name__ == '__main__':
    unittest.main()
