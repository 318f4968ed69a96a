#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the system calls found in stacks with the system call events. 32-bit programs must have the names of
32-bit calls."""
import collections
import json
import re
import subprocess
import unittest

from recording import PROGRAM, LiveTest, events_of, in_interrupt

# System calls that allocate. The compiler leaves some of them (read, write, mmap) without a frame in the kernel stack.
LOAD = r'''
import mmap, os, select, socket
for i in range(50):
    a, b = socket.socketpair()
    a.send(b"x" * 100), b.recv(100)
    a.sendmsg([b"y"]), b.recvmsg(10)
    os.write(a.fileno(), b"w"), os.writev(a.fileno(), [b"1", b"2"])
    e = select.epoll()
    e.register(a), e.poll(0)
    e.close(), a.close(), b.close()
    m = mmap.mmap(-1, 1 << 20)
    m.write(b"z" * 65536), m.close()
    r, w = os.pipe()
    os.close(r), os.close(w)
    os.listdir("/"), os.stat("/proc/self/maps").st_size, open("/proc/self/stat").read()
os.system("true")
'''
# A program without a C library, because few machines have a 32-bit one. With an argument, it runs endlessly.
PIPES = r'''
static int call(int number, void* argument) {
  int result;
  __asm__ volatile("int $0x80" : "=a"(result) : "0"(number), "b"(argument) : "memory");
  return result;
}
void _start(void) {
  const int arguments = ((int*)__builtin_frame_address(0))[1];
  int ends[2];
  for (int i = 0; i < 500 || arguments > 1; ++i)
    if (call(42, ends) || call(6, (void*)ends[0]) || call(6, (void*)ends[1])) call(1, (void*)1);  // pipe, close, exit
  call(1, 0);
}
'''
ALLOCATIONS = ('kmalloc', 'kmem_cache_alloc', 'kmalloc_node', 'kmem_cache_alloc_node')
KERNEL = 'kmem:kmalloc*,kmem:kmem_cache_alloc*,kmem:kfree,kmem:kmem_cache_free'


def numbers():
    """Returns {number: name} of this machine's system calls, from the headers of its C library."""
    text = subprocess.run(['cc', '-E', '-dM', '-'], input='#include <sys/syscall.h>\n', stdout=subprocess.PIPE, check=True,
                          encoding='utf-8').stdout
    return {int(number): name for name, number in re.findall(r'^#define __NR_(\w+) (\d+)$', text, re.M)}


class Syscalls(LiveTest):
    def hits(self, *options):
        report = json.loads(subprocess.run([PROGRAM, 'report', self.trace, '--by', 'syscall', '--limit', '0', '--json',
                                            *options], stdout=subprocess.PIPE, check=True, timeout=600).stdout)
        return {row['keys']['syscall']: row['allocations'] for row in report['groups']['slab']['rows']}

    def test_stacks_and_events_name_the_same_call(self):
        messages = self.record('--stacks', '--syscalls', '-e', KERNEL, '-F', '--', 'python3', '-c', LOAD)
        self.assertIn('Nothing was lost', messages)
        names, inside, wanted = numbers(), {}, collections.Counter()
        for event in sorted(events_of(self.trace), key=lambda event: event.time_ns):  # stable: keeps the order per task
            if event.name == 'sys_enter':
                inside[event.pid] = names[event.fields['id']]
            elif event.name == 'sys_exit':
                inside[event.pid] = None
            elif event.name in ALLOCATIONS and not in_interrupt(event) and event.fields['ptr']:
                wanted[inside.get(event.pid)] += 1
        found = self.hits()
        for name in ('socketpair', 'sendto', 'sendmsg', 'mmap', 'read', 'write', 'writev', 'pipe2', 'openat', 'execve'):
            self.assertGreater(wanted[name], 0, wanted)
        brackets = {name: count for name, count in found.items()
                    if name and name.startswith('[') and name not in ('[softirq]', '[hardirq]', '[nmi]')}
        # Stacks may name system calls without events, such as the end of a fork in the child.
        for name, count in wanted.items():
            if name is not None and name not in ('clone', 'clone3', 'vfork', 'fork'):
                self.assertEqual(found.get(name), count, (name, found, wanted))
        self.assertLessEqual(sum(brackets.values()), wanted[None], (found, wanted))

    def test_bpf_records_calls_before_their_allocations(self):
        busy = subprocess.Popen(['sh', '-c', 'while :; do /bin/true; done'])
        self.addCleanup(self.end, busy)
        for _ in range(3):
            self.record('--syscalls', '--backend', 'bpf', '-e', KERNEL, '-d', '100ms')
            first = {}
            for event in events_of(self.trace):
                kind = 'call' if event.name in ('sys_enter', 'sys_exit') else event.name in ALLOCATIONS
                first[kind] = min(event.time_ns, first.get(kind, event.time_ns))
            self.assertLess(first['call'], first[True])

    def program_of_32_bits(self):
        source, program = self.path('pipes.c'), self.path('pipes32')
        with open(source, 'w', encoding='utf-8') as file:
            file.write(PIPES)
        built = subprocess.run(['cc', '-m32', '-nostdlib', '-static', '-fno-pic', '-no-pie', '-fno-stack-protector',
                                '-fno-omit-frame-pointer', '-o', program, source], stderr=subprocess.PIPE, check=False)
        try:
            if built.returncode == 0 and subprocess.run([program], check=False).returncode == 0:
                return program
        except OSError:  # a kernel without IA32 emulation
            pass
        return self.skipTest('no 32-bit programs here')

    def check_32_bits(self):
        found = self.hits('--comm', 'pipes32')
        self.assertGreaterEqual(found.get('pipe', 0), 2 * 100, found)
        self.assertNotIn('connect', found)  # the 64-bit call with number 42, which is pipe in 32-bit programs

    def test_a_32_bit_program(self):
        self.record('--syscalls', '-e', KERNEL, '--', 'sh', '-c', f'{self.program_of_32_bits()}; ls -l /proc > /dev/null')
        self.check_32_bits()
        self.assertGreater(self.hits('--comm', 'ls').get('getdents64', 0), 0, 'a program of 64 bits after it')

    def test_a_32_bit_program_that_ran_before(self):
        program = subprocess.Popen([self.program_of_32_bits(), 'for ever'])
        self.addCleanup(self.end, program)
        self.record('--syscalls', '-e', KERNEL, '-p', str(program.pid), '-d', '300ms')
        self.check_32_bits()


if __name__ == '__main__':
    unittest.main()
