#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that a recording ends when its trigger condition is true, and not earlier."""
import contextlib
import mmap
import os
import socket
import struct
import time
import unittest

from recording import LiveTest, events_of

SOL_PACKET, PACKET_RX_RING = 263, 5  # linux/if_packet.h


class Trigger(LiveTest):
    def end_of(self, process, seconds=15):
        """Waits for the recorder to end by its trigger. Returns the messages."""
        process.wait(seconds)
        messages = self.finish(process)
        self.assertIn('Triggered: ', messages)
        return messages

    def test_growth_of_a_size(self):
        """Sends data that no process receives, which occupies unreclaimable slab memory."""
        process = self.start('--trigger', 'SUnreclaim+60M', '-e', 'kmem:kmalloc', '-p', str(os.getpid()))
        time.sleep(1)
        self.assertIsNone(process.poll(), 'triggered before anything grew')
        with contextlib.ExitStack() as sockets:
            for _ in range(1000):
                sender, receiver = (sockets.enter_context(end) for end in socket.socketpair())
                del receiver
                sender.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        sender.send(bytes(900))
            self.assertIn('SUnreclaim is ', self.end_of(process))

    def test_growth_of_a_count(self):
        process = self.start('--trigger', 'pgfault+100000', '-e', 'kmem:mm_page_alloc', '-p', str(os.getpid()))
        with mmap.mmap(-1, 120000 * mmap.PAGESIZE) as memory:
            memory.madvise(mmap.MADV_NOHUGEPAGE)
            for at in range(0, len(memory), mmap.PAGESIZE):
                memory[at] = 1
        self.assertIn('pgfault is ', self.end_of(process))

    def test_limits_that_already_hold_are_refused(self):
        for condition in ('MemFree<1000G', 'MemFree>1k'):
            messages = self.record('--trigger', condition, '-e', 'kmem:kmalloc', exit_code=2)
            self.assertIn('is already true: MemFree is ', messages)
        messages = self.record('--trigger', 'MemFree<1k', '-e', 'kmem:kmalloc', '--duration', '300ms')
        self.assertNotIn('Triggered', messages)

    def test_failed_allocation(self):
        """Requests a packet socket ring whose table is larger than kmalloc() can allocate."""
        with contextlib.ExitStack() as stack:
            try:
                packets = stack.enter_context(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
            except OSError as error:
                self.skipTest(f'no packet sockets: {error}')
            process = self.start('--trigger', 'failure', '--flight', '10s', '-p', str(os.getpid()))
            time.sleep(1)
            self.assertIsNone(process.poll(), 'triggered though nothing has failed')
            with self.assertRaises(OSError):
                packets.setsockopt(SOL_PACKET, PACKET_RX_RING, struct.pack('IIII', 4096, 1 << 20, 4096, 1 << 20))
            self.assertIn('an allocation failed', self.end_of(process))
        failed = [e for e in events_of(self.trace) if e.name == 'kmalloc' and e.fields['ptr'] == 0]
        self.assertIn((os.getpid(), 8 << 20), {(e.pid, e.fields['bytes_req']) for e in failed})

    def test_wrong_conditions(self):
        for condition in ('NoSuchName>1', 'memfree<1G', 'MemFree', 'MemFree<', '<5', 'MemFree<12q', 'failures'):
            messages = self.record('--trigger', condition, exit_code=2)
            self.assertIn('error:', messages, condition)
        self.assertIn('SUnreclaim', self.record('--trigger', 'memfree<1G', exit_code=2))


if __name__ == '__main__':
    unittest.main()
