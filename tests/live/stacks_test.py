#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks stacks: each event has its own stack, and a .kmt stores the stacks in little space."""
import bisect
import os
import re
import signal
import struct
import unittest

from kmt_events import File, events_of, records_of
from recording import LiveTest, begin_loop, end_loop, report

CONTEXT = 0x08 | 0x10 | 0x40  # bits of common_flags for the interrupt context
CALLERS = 16  # offset of the frames in kernel_stack, after the 4-byte count at offset 8


class Symbols:
    def __init__(self, kallsyms):
        lines = (line.split()[:3] for line in kallsyms.decode().splitlines())
        self.symbols = sorted((int(address, 16), name) for address, kind, name in lines if kind in 'tT')
        self.addresses = [address for address, _ in self.symbols]

    def name(self, address):
        place = bisect.bisect_right(self.addresses, address - 1) - 1  # a return address points after the call
        return self.symbols[place][1] if place >= 0 else ''


class Stacks(LiveTest):
    def test_every_event_has_its_stack(self):
        loop = begin_loop(2000)
        self.addCleanup(self.end, loop)
        paths = [self.path('trace.kmt'), self.path('trace.dat')]
        recorders = [self.start('--stacks', '-o', path, '-p', str(loop.pid)) for path in paths]
        counted = end_loop(loop)
        for recorder in recorders:
            recorder.send_signal(signal.SIGINT)
        for messages in self.finish_all(recorders):
            self.assertIn('othing was lost', messages)
        file = File(paths[0])
        symbols = Symbols(file.facts['kallsyms'])
        pairs = self.pairs_of(file)
        self.assertGreater(len(pairs), 10 * 2000)
        chains = {}
        pipes = with_call_site = with_site = 0
        for event, frames in pairs:
            self.assertGreater(len(frames), 2)
            if frames not in chains:
                chains[frames] = [symbols.name(frame) for frame in frames]
            self.assertNotIn('', chains[frames])
            if event.name == 'kmalloc':
                with_site += 1
                with_call_site += event.fields['call_site'] & (1 << 64) - 1 in frames
                pipes += 'alloc_pipe_info' in chains[frames][:6]
        self.assertGreaterEqual(pipes, min(counted['kmalloc'], 2 * 2000))
        self.assertGreater(with_call_site, 0.9 * with_site)
        text = report(paths[1])
        self.assertEqual(len(re.findall(r'kernel_stack:', text)), len(pairs))
        # The data before the first block, mostly symbols, is compressed in only one of the files. The comparison
        # therefore excludes this data.
        begin = next(chunk.offset for chunk in file.chunks if chunk.type == 3)
        large = os.path.getsize(paths[1]) - len(file.facts['kallsyms'])
        self.assertLess((os.path.getsize(paths[0]) - begin) * 10, large)

    def pairs_of(self, file):
        """Returns (event, frames) pairs. On one CPU, each event of a context is followed by its stack. Only events of
        an interrupt may come in between."""
        order = {b'little': '<', b'big': '>'}[file.facts['byte_order']]
        events, pairs = iter(events_of(file)), []
        for _, records in records_of(file):
            waiting = {}
            for record in records:
                event = next(events)
                context = event.flags & CONTEXT
                if event.name != 'kernel_stack':
                    self.assertNotIn(context, waiting, 'an event without a stack')
                    waiting[context] = event
                    continue
                before = waiting.pop(context)
                self.assertEqual(before.pid, event.pid)
                count, = struct.unpack_from(order + 'i', record.bytes, 8)
                pairs.append((before, struct.unpack_from(f'{order}{count}Q', record.bytes, CALLERS)))
            self.assertEqual(waiting, {})
        return pairs


if __name__ == '__main__':
    unittest.main()
