#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests `kmemtrace repair` on real traces that were cut off or damaged. The test suite's own decoder, which rejects
damaged files, reads the result."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import kmt_decoder  # noqa: E402
from kmemtrace import data, run  # noqa: E402


class Repaired(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, 'x.kmt')
        done = run('convert', data('s390x/trace.lost.dat'), self.path)
        self.assertEqual(0, done.returncode, done.stderr)
        with open(self.path, 'rb') as file:
            self.bytes = file.read()
        self.whole = kmt_decoder.File(self.bytes)

    def repaired(self, damaged, chunks):
        """Repairs the damaged file and returns the result. The result must have these chunks of the original, byte for
        byte, and a note about the repair."""
        with open(self.path, 'wb') as file:
            file.write(damaged)
        done = run('repair', self.path)
        self.assertEqual(0, done.returncode, done.stderr)
        file = kmt_decoder.read(self.path)
        kept = [(chunk.type, chunk.stream, chunk.plain) for chunk in file.chunks[:-2]]
        self.assertEqual([(chunk.type, chunk.stream, chunk.plain) for chunk in chunks], kept)
        self.assertEqual(kmt_decoder.FACTS, file.chunks[-2].type)
        self.assertIn('repaired', file.facts)
        self.assertEqual([chunk.offset for chunk in file.chunks[:-1]], [entry.offset for entry in file.index])
        blocks = [block for stream in file.streams.values() for block in stream.blocks]
        entries = [entry for entry in file.index if entry.type == kmt_decoder.EVENTS]
        self.assertEqual(sorted((len(block.records), block.records[0].ticks, block.records[-1].ticks) for block in blocks),
                         sorted(entry[3:] for entry in entries))
        with open(self.path, 'rb') as again:
            before = again.read()
        self.assertIn('nothing to repair', run('repair', self.path).stdout)
        with open(self.path, 'rb') as again:
            self.assertEqual(before, again.read())
        return file

    def test_cut_at_every_chunk(self):
        chunks = self.whole.chunks
        for place in range(3, len(chunks)):
            for more in (0, 1, 31, 33):
                file = self.repaired(self.bytes[:chunks[place].offset + more], chunks[:place])
                self.assertIn(b'index was missing', file.facts['repaired'])
                self.assertEqual(more > 0, b'bytes at offset' in file.facts['repaired'])

    def test_damaged_chunk(self):
        chunks = self.whole.chunks
        for place, chunk in enumerate(chunks[:-1]):
            if chunk.type == kmt_decoder.FACTS or chunk.type == kmt_decoder.STREAM:
                continue  # the decoder cannot continue without these chunks
            for at in (0, 40):  # header, payload
                damaged = bytearray(self.bytes)
                damaged[chunk.offset + at] ^= 0x10
                file = self.repaired(damaged, chunks[:place] + chunks[place + 1:-1])
                self.assertIn(b'%d bytes at offset' % (chunks[place + 1].offset - chunk.offset), file.facts['repaired'])


if __name__ == '__main__':
    unittest.main()
